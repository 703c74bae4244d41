/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a program's file in a sandbox (inspect/sandbox.h). What is found comes back in memory
 * that both processes have, and is looked at when the sandbox has ended.
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
 * `shared`. 0; -ENOEXEC: it is no file for this, or reading it went wrong in the sandbox;
 * -ETIMEDOUT: its bytes did not come; or -errno.
 */
int confined_run(int fd, int (*work)(struct elf_image *image, void *shared), void *shared);

/*
 * Run `call` in a sandbox, for `most_ms` at most. It opens what it will read, gives its rights up
 * (sandbox_confine()) before it reads, and returns 0 when it has written its result to `shared`. 0;
 * -ENOEXEC: it has not; -ETIMEDOUT; or -errno.
 */
int confined_call(int (*call)(int socket, void *shared), void *shared, int most_ms);

#endif
