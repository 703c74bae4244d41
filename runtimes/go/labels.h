/* SPDX-License-Identifier: Apache-2.0 */
/* Where a program in Go keeps the labels of runtime/pprof. */
#ifndef CTXPROP_RUNTIMES_GO_LABELS_H
#define CTXPROP_RUNTIMES_GO_LABELS_H

#include "inspect/elf_image.h"
#include "profile/threads.h"

/* By the version that built it; `g` is not filled in. form 0: the version is not known. */
struct profile_go golang_labels_of(unsigned int minor);

/* Of a program's file. form 0: it is not in Go, or of an unknown version. */
void golang_labels(struct elf_image *image, struct profile_go *ret_go);

#endif
