/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_MEMORY_LIMIT_H
#define CTXPROP_MEMORY_LIMIT_H

#include <linux/types.h>

/*
 * How many bytes of memory this process may have: what the machine has, or the lowest limit of its
 * cgroup and those around it, as far as they can be seen (version 2 or 1).
 */
__u64 memory_limit(void);

#endif
