// SPDX-License-Identifier: Apache-2.0
#include "forge.h"

#include <arpa/inet.h>

struct kind {
	bool syn, ack, fin, rst;
};

static const struct kind kinds[] = {
    {.syn = true}, {.syn = true, .ack = true}, {.fin = true, .ack = true},
    {.rst = true}, {.rst = true, .ack = true},
};

/*
 * Numbers far before the window, and far behind it; and, where TCP asks back, within it. It keeps a
 * FIN that lies in the window, believes some of the RSTs that do, and a server that has not heard
 * yet that its SYN-ACK has arrived believes a SYN: those end any connection.
 */
static uint32_t drawn_shift(struct rng *rng, const struct kind *kind, bool from_client)
{
	static const uint32_t outside[] = {-70000000u, -20000001u, 0x20000000, 0x7ff00000};
	static const uint32_t inside[] = {3, -3u, 1021, -1021u};

	if (kind->fin || kind->rst || from_client || rng_below(rng, 2))
		return outside[rng_below(rng, 4)];
	return inside[rng_below(rng, 4)];
}

static void write_length(struct packet *packet, const struct layout *layout)
{
	uint8_t *ip = packet->data + layout->ip;

	if (layout->version == 4)
		((ipv4_header *)ip)->tot_len = htons((uint16_t)(layout->end - layout->ip));
	else
		((ipv6_header *)ip)->ip6_plen =
		    htons((uint16_t)(layout->end - layout->ip - sizeof(ipv6_header)));
}

struct packet *forge_beside(struct rng *rng, const struct packet *packet,
			    const struct layout *layout, bool from_client)
{
	const struct kind *kind = &kinds[rng_below(rng, sizeof(kinds) / sizeof(kinds[0]))];
	struct packet *forged = packet_copy(packet);
	struct layout cut = *layout;
	tcp_header *tcp = (tcp_header *)(forged->data + layout->tcp);
	uint32_t shift = drawn_shift(rng, kind, from_client);

	cut.end = forged->len = layout->payload;
	forged->offload = (struct virtio_net_hdr){};
	tcp->seq = htonl(ntohl(tcp->seq) + shift);
	tcp->ack_seq = kind->ack ? htonl(ntohl(tcp->ack_seq) + (kind->syn ? shift : 0)) : 0;
	tcp->syn = kind->syn;
	tcp->ack = kind->ack;
	tcp->fin = kind->fin;
	tcp->rst = kind->rst;
	tcp->psh = tcp->urg = 0;
	write_length(forged, &cut);
	packet_write_checksums(forged, &cut);
	return forged;
}
