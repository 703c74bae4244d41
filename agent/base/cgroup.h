/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_CGROUP_H
#define CTXPROP_CGROUP_H

#include <linux/types.h>

/* The kernel's id of a cgroup (version 2) by its path below the root; 0: there is none. */
__u64 cgroup_id(const char *path);

#endif
