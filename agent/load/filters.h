/* SPDX-License-Identifier: Apache-2.0 */
/* Which classifiers stand at a device's clsact hooks, ours and others'. */
#ifndef CTXPROP_FILTERS_H
#define CTXPROP_FILTERS_H

#include <stdbool.h>
#include <linux/types.h>

#include "load/hook.h"

/* One classifier of chain 0. */
struct filter {
	__u32 priority; /* lower runs first */
	__u32 handle;
	__u32 prog_id; /* 0: not a BPF program */
};

/*
 * Call `visit` for each classifier at a hook, in kernel order. A device without clsact has none.
 * 0 or -errno.
 */
int filters_each(int ifindex, enum hook hook, void (*visit)(const struct filter *, void *data),
		 void *data);

#endif
