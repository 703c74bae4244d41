/* SPDX-License-Identifier: Apache-2.0 */
/* What stands at an address of a running program: file, location in it, function. */
#ifndef CTXPROP_CODE_LOCATION_H
#define CTXPROP_CODE_LOCATION_H

#include <limits.h>
#include <linux/types.h>

#define CODE_LOCATION_FUNCTION_MAX 256

struct code_location {
	char module[PATH_MAX]; /* path of the file, or how the kernel calls it: "[vdso]" */
	__u64 offset;          /* in it */
	char function[CODE_LOCATION_FUNCTION_MAX]; /* empty: not known */
	__u64 into;                                /* bytes from the beginning of the function */
};

/*
 * Look an address of a process up. One that a call returns to may stand behind its function:
 * `returns` is 1 for those. The file is read in a sandbox: where that fails, the function is not
 * known. Waits for it. Returns 0, -ENOENT when nothing is mapped there (any more), or -errno.
 */
int code_location_find(__u32 tgid, __u64 address, int returns, struct code_location *ret);

#endif
