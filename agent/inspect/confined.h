/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a program's file in a sandbox (inspect/sandbox.h). Results come back in memory that both
 * processes share, and are read when the sandbox has ended.
 */
#ifndef CTXPROP_CONFINED_H
#define CTXPROP_CONFINED_H

#include <stddef.h>

#include "inspect/elf_image.h"

/* Memory for `size` bytes, all zero, to be freed by confined_free(). NULL: there is none. */
void *confined_alloc(size_t size);
void confined_free(void *shared, size_t size);

/*
 * Run `work` on the file behind a descriptor; it returns 0 when it has written its result to
 * `shared`. 0; -ENOEXEC: it is not an ELF file of this machine, or `work` failed; -ETIMEDOUT:
 * reading it took too long; or -errno.
 */
int confined_run(int fd, int (*work)(struct elf_image *image, void *shared), void *shared);

/*
 * Run `call` in a sandbox, for `most_ms` at most. It opens what it will read, gives up its rights
 * (sandbox_confine()), reads, and returns 0 when it has written its result to `shared`. 0;
 * -ENOEXEC: it failed; -ETIMEDOUT; or -errno.
 */
int confined_call(int (*call)(int socket, void *shared), void *shared, int most_ms);

#endif
