/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs Ruby tells about its interpreter. */
#ifndef CTXPROP_RUBY_H
#define CTXPROP_RUBY_H

#include "context/runtime.h"
#include "runtime/library.h"
#include "runtime/ruby_queues.h"

struct ruby {
	struct runtime runtime; /* kind RUNTIME_RUBY; addresses as in the process */
	unsigned int major, minor;
	struct ruby_queues queues;   /* none: they are not followed */
	char path[LIBRARY_PATH_MAX]; /* of the interpreter, good for us */
};

/*
 * Look at a process that runs the program of `image`. 0; -ENOENT: it is not Ruby; -ENOTSUP: it
 * is, but only its threads can be followed (`ret_why`: constant text); or -errno.
 */
int ruby_inspect(__u32 tgid, struct elf_image *image, struct ruby *ret_ruby, const char **ret_why);

#endif
