/* SPDX-License-Identifier: Apache-2.0 */
/* TUN and TAP devices in other network namespaces. */
#ifndef CHAOS_TUN_H
#define CHAOS_TUN_H

#include "packet.h"

/* How a device shows itself to its namespace. */
struct tun_kind {
	bool ethernet;
	bool offload;
};

/*
 * Make device `name` in the namespace of this name (under /run/netns) and return its descriptor,
 * non-blocking; the device goes when it is closed. With `offload` the kernel hands over partial
 * checksums and large packets. -errno on failure; the caller's own namespace stays as it was.
 */
int tun_open(const char *netns, const char *name, const struct tun_kind *kind);

/* The next packet in `into`, which has room for PACKET_MAX. -EAGAIN when there is none. */
int tun_read(int fd, struct packet *into);

/* Hand a packet to the device. 0 or -errno. */
int tun_write(int fd, const struct packet *packet);

#endif
