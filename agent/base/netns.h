/* SPDX-License-Identifier: Apache-2.0 */
/* Network namespaces: which one this is, and entering another. */
#ifndef CTXPROP_NETNS_H
#define CTXPROP_NETNS_H

#include <linux/types.h>

/* The kernel's cookie of the current network namespace (unique until reboot), 0 or -errno. */
int netns_cookie(__u64 *ret_cookie);

/* The cookie of another network namespace, named as for netns_enter(). 0 or -errno. */
int netns_cookie_of(const char *which, __u64 *ret_cookie);

/*
 * Move the calling thread to a network namespace.
 * `which`: a path, a process id, or a name under /run/netns. 0 or -errno.
 */
int netns_enter(const char *which);

/* What an error of these two says to whoever has named the namespace. */
const char *netns_why(int err);

#endif
