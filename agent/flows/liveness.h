/* SPDX-License-Identifier: Apache-2.0 */
/* Does the kernel still know a connection, by a socket or by connection tracking? */
#ifndef CTXPROP_LIVENESS_H
#define CTXPROP_LIVENESS_H

#include <linux/types.h>

/* The addresses and ports of a connection as its packets show them. IPv4 as ::ffff:a.b.c.d. */
struct tuple {
	__u8 src[16];
	__u8 dst[16];
	__be16 sport;
	__be16 dport;
};

enum liveness {
	LIVENESS_GONE,    /* nobody has it */
	LIVENESS_THERE,   /* a socket or a tracked connection */
	LIVENESS_UNKNOWN, /* the kernel cannot say */
};

/*
 * A TCP connection of this namespace, by its outbound tuple. With address translation the packets
 * show another tuple than the socket; connection tracking knows the connection by it then.
 */
enum liveness liveness_of(const struct tuple *tuple);

#endif
