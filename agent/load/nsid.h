/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of network namespaces: a namespace can give others small numbers. A monitor (links.h)
 * gets notifications of those that have one, also when they end. A number does not keep a namespace
 * alive.
 */
#ifndef CTXPROP_NSID_H
#define CTXPROP_NSID_H

#include <linux/netlink.h>

/*
 * The number that the current namespace has for the namespace behind a descriptor, which is given
 * one if it has none. 0 or more, or -errno.
 */
int nsid_of(int netns_fd);

/* Is there a namespace with this number? 1, 0 or -errno. */
int nsid_exists(int nsid);

/* Does a message tell that a number has ended? Then it is in *ret_nsid. */
int nsid_ended(const struct nlmsghdr *message, int *ret_nsid);

#endif
