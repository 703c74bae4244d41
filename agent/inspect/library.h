/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library, or module, that a process has loaded. */
#ifndef CTXPROP_LIBRARY_H
#define CTXPROP_LIBRARY_H

#include "inspect/subject.h"
#include "inspect/elf_image.h"

struct library {
	__u32 file; /* its index in the subject */
	struct elf_image *image;
	__u64 bias; /* its address in memory - its address in the file */
};

/*
 * Open the first library whose name begins with `prefix`. 0, and `ret_library` is to be closed;
 * -ENOENT: the process has none; -ESTALE: its file can no longer be opened; or -errno.
 */
int library_open(const struct subject *subject, const char *prefix, struct library *ret_library);
void library_close(struct library *library);

/*
 * The difference between the program's addresses in memory and in its file. 0, or -ENOENT: not
 * known.
 */
int library_program_bias(const struct subject *subject, __u64 entry, __u64 *ret_bias);

#define _cleanup_library_ __attribute__((cleanup(library_close)))

#endif
