/* SPDX-License-Identifier: Apache-2.0 */
/* All network namespaces that can be found from here. */
#ifndef CTXPROP_NETNS_ALL_H
#define CTXPROP_NETNS_ALL_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct netns_id {
	__u64 inode;
	__u64 cookie;
};

struct netns_set {
	size_t count;
	struct netns_id *ids;
};

/*
 * Collect the namespaces of all processes and those under /run/netns, by visiting each. The caller
 * must have one thread. 0 or -errno; then the set is incomplete and must not be relied on.
 * To be freed by netns_set_free() in either case.
 */
int netns_find_all(struct netns_set *ret_set);

/* Is the namespace with this cookie in the set? */
bool netns_set_has(const struct netns_set *set, __u64 cookie);

void netns_set_free(struct netns_set *set);

/*
 * Move the calling thread to the namespace with this cookie. 0; -ENOENT: it is none of those that
 * can be found, and the thread stays where it is; or -errno.
 */
int netns_enter_cookie(__u64 cookie);

#endif
