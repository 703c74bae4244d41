/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs Ruby tells about its interpreter. */
#ifndef CTXPROP_RUBY_H
#define CTXPROP_RUBY_H

#include "context/runtime.h"
#include "runtime/elf_image.h"

struct ruby {
	struct runtime runtime; /* kind RUNTIME_RUBY; addresses as in the process */
	unsigned int major, minor;
};

/*
 * Look at a process that runs the program of `image`. 0; -ENOENT: it is not Ruby; -ENOTSUP: it
 * is, but only its threads can be followed (`ret_why`: constant text); or -errno.
 */
int ruby_inspect(__u32 tgid, struct elf_image *image, struct ruby *ret_ruby, const char **ret_why);

#endif
