/* SPDX-License-Identifier: Apache-2.0 */
/* One question over netlink and its answers. */
#ifndef CTXPROP_NETLINK_H
#define CTXPROP_NETLINK_H

#include <stddef.h>
#include <libmnl/libmnl.h>

#define NETLINK_REQUEST_MAX 256
#define NETLINK_ANSWER_MAX  (32 * 1024) /* largest datagram of a dump that the kernel sends */

union netlink_request {
	struct nlmsghdr header;
	char bytes[NETLINK_REQUEST_MAX];
};

/* Begin a request. Returns its family header of `size` bytes, zeroed. */
void *netlink_begin(union netlink_request *request, int type, int flags, size_t size);

/*
 * Send `request` over a socket of its own and give every answer to `on_message`. `bus` is a
 * NETLINK_* number. 0 or -errno, the kernel's own included.
 */
int netlink_query(int bus, union netlink_request *request, mnl_cb_t on_message, void *data);

#endif
