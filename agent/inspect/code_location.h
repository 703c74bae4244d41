/* SPDX-License-Identifier: Apache-2.0 */
/* What stands at an address of a running program: file, location in it, function. */
#ifndef CTXPROP_CODE_LOCATION_H
#define CTXPROP_CODE_LOCATION_H

#include <limits.h>
#include <linux/types.h>

#define CODE_LOCATION_FUNCTION_MAX 256

struct code_location {
	char module[PATH_MAX]; /* path of the file, or the kernel's name for it: "[vdso]" */
	__u64 offset;          /* in it */
	char function[CODE_LOCATION_FUNCTION_MAX]; /* empty: not known */
	__u64 into;                                /* bytes from the beginning of the function */
};

/*
 * Look up an address of a process. `returns`: 1 for a return address, which may already be behind
 * the function that made the call. The file is read in a sandbox, for which this waits; if that
 * fails, the function is not known. Returns 0, -ENOENT when nothing is mapped there (any more), or
 * -errno.
 */
int code_location_find(__u32 tgid, __u64 address, int returns, struct code_location *ret);

#endif
