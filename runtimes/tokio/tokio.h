/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's tokio, and others like it: tasks take turns inside threads, and hand connections to each
 * other there. Nothing in the program tells which task runs, so that it is only known that it does
 * (bpf/engine/tasks.h says what is believed then).
 */
#ifndef CTXPROP_RUNTIMES_TOKIO_TOKIO_H
#define CTXPROP_RUNTIMES_TOKIO_TOKIO_H

#include "inspect/elf_image.h"

/* So much of what is constant in a program is searched, in bytes. */
#define TOKIO_SEARCHED_MAX (256UL << 20)

/*
 * Was such a runtime compiled into the program? Told by names of source files and of threads, which
 * programs have that were stripped, too. 0; -ENOENT: no.
 */
int tokio_inspect(const struct elf_image *image);

#endif
