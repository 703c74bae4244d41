/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernel functions, kept from one profile to the next. /proc/kallsyms is read again only
 * if an address may belong to another function by now. An address that belonged to two functions
 * while samples were taken has no name.
 */
#ifndef CTXPROP_PROFILE_NAMES_KERNEL_NAMES_H
#define CTXPROP_PROFILE_NAMES_KERNEL_NAMES_H

#include <stddef.h>
#include <linux/types.h>

#include "profile/names/kernel_symbols.h"
#include "profile/names/kernel_watch.h"

/* All zero at first. Times are of CLOCK_MONOTONIC. */
struct kernel_names {
	struct kernel_symbols *symbols; /* NULL: they were not read, or cannot be */
	struct kernel_watch *watch;     /* NULL: code that comes and goes is not known */
	__u64 modules;                  /* kernel_modules() when the symbols were read */
	__u64 read_ns;                  /* and when that was */
};

void kernel_names_free(struct kernel_names *names);

/*
 * For profilers that run for long: watch changes from now on. Without the rights for that, nothing
 * happens.
 */
void kernel_names_watch(struct kernel_names *names);

/*
 * Prepare to name these addresses, which were sampled since `since_ns`. Without
 * kernel_names_watch(), names are those of this moment.
 */
void kernel_names_look(struct kernel_names *names, const __u64 *address, size_t count,
		       __u64 since_ns);

/*
 * The name of the function at one of them, valid until the next call of kernel_names_look(). NULL:
 * none, or it is not certain which function it was.
 */
const char *kernel_names_get(const struct kernel_names *names, __u64 address, __u64 since_ns);

#endif
