/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_CGROUP_H
#define CTXPROP_CGROUP_H

#include <stddef.h>
#include <linux/types.h>

/* The kernel's id of a cgroup (version 2) by its path below the root; 0: there is none. */
__u64 cgroup_id(const char *path);

/*
 * The other way round: its path below the root ("/" is the root itself) into a buffer. 0, -ESTALE
 * when it is gone, or -errno.
 */
int cgroup_path(__u64 id, char *ret_path, size_t size);

/* Descriptor of a cgroup's directory by its path below the root, or -errno. */
int cgroup_open(const char *path);

/*
 * Descriptor of the root of all cgroups; -ENOENT: version 2 is not mounted, -EXDEV: what is mounted
 * is the root of a container's only, or -errno.
 */
int cgroup_open_root(void);

#endif
