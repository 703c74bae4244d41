/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs Ruby tells about its interpreter. */
#ifndef CTXPROP_RUNTIMES_RUBY_RUBY_H
#define CTXPROP_RUNTIMES_RUBY_RUBY_H

#include "runtimes/runtime.h"
#include "inspect/library.h"
#include "runtimes/ruby/queues.h"
#include "runtime/why.h"

struct ruby {
	struct runtime runtime; /* kind RUNTIME_RUBY; addresses as in the process */
	unsigned int major, minor;
	struct probe_sites sites; /* enum ruby_probe; none: its queues are not followed */
};

/* The library that is looked into, for subject_open(). */
#define RUBY_WANTED 1
extern const struct subject_wanted ruby_wanted[RUBY_WANTED];

/*
 * Look at a process that runs the program of `image`. 0; -ENOENT: it is not Ruby; -ENOTSUP: it
 * is, but only its threads can be followed (`ret_why`); -ESTALE: its library is not to be had any
 * more; or -errno.
 */
int ruby_inspect(const struct subject *subject, struct elf_image *image, struct ruby *ret_ruby,
		 enum why *ret_why);

#endif
