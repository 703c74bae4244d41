/* SPDX-License-Identifier: Apache-2.0 */
/* One question over netlink and its answers. */
#ifndef CTXPROP_NETLINK_H
#define CTXPROP_NETLINK_H

#include <libmnl/libmnl.h>

/*
 * Send `request` (without NLM_F_ACK unless it is not a dump) over a socket of its own and give
 * every answer to `on_message`. `bus` is a NETLINK_* number. 0 or -errno, the kernel's own
 * included.
 */
int netlink_query(int bus, struct nlmsghdr *request, mnl_cb_t on_message, void *data);

#endif
