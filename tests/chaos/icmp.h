/* SPDX-License-Identifier: Apache-2.0 */
/* What a router says about a packet that does not fit the next link. */
#ifndef CHAOS_ICMP_H
#define CHAOS_ICMP_H

#include "packet.h"

/*
 * "Fragmentation needed" (IPv4) or "packet too big" (IPv6) to the sender of `packet`, quoting its
 * first bytes; it comes from the address that the packet was sent to. NULL when none may be sent
 * (IPv4 packet that may be fragmented). `mtu` in bytes. The caller frees it.
 */
struct packet *icmp_too_big(const struct packet *packet, const struct layout *layout,
			    unsigned int mtu);

#endif
