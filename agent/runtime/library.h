/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library, or module, that a process has loaded. */
#ifndef CTXPROP_LIBRARY_H
#define CTXPROP_LIBRARY_H

#include <limits.h>

#include "runtime/elf_image.h"
#include "runtime/process.h"

#define LIBRARY_PATH_MAX (PATH_MAX + PROCESS_PATH_MAX)

struct library {
	char path[LIBRARY_PATH_MAX]; /* good for us */
	int fd;
	struct elf_image *image;
	__u64 bias; /* how far from the addresses in its file it was loaded */
};

#define LIBRARY_NONE ((struct library){.fd = -1})

/*
 * Open the first library whose name begins like this; `ret_library` is LIBRARY_NONE before, and is
 * to be closed in any case. 0, -ENOENT: the process has none, or -errno.
 */
int library_open(__u32 tgid, const char *prefix, struct library *ret_library);
void library_close(struct library *library);

#define _cleanup_library_ __attribute__((cleanup(library_close)))

#endif
