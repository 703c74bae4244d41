/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets as a TUN or TAP device gives them: a virtio-net header, an Ethernet header on TAP, IP.
 * All numbers in packets are big endian; those of the virtio header are in host order.
 */
#ifndef CHAOS_PACKET_H
#define CHAOS_PACKET_H

#include <linux/tcp.h>
#include <linux/virtio_net.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_MAX ((size_t)66 * 1024)

/* Behind an Ethernet header the others do not stand on multiples of four. */
typedef struct iphdr ipv4_header __attribute__((aligned(1)));
typedef struct ip6_hdr ipv6_header __attribute__((aligned(1)));
typedef struct tcphdr tcp_header __attribute__((aligned(1)));
typedef struct icmphdr icmpv4_header __attribute__((aligned(1)));
typedef struct icmp6_hdr icmpv6_header __attribute__((aligned(1)));

struct packet {
	struct virtio_net_hdr offload;
	size_t len;
	uint8_t data[];
};

/* Offsets in a packet; `tcp` is 0 unless it is TCP over plain IPv4 or IPv6 without fragments. */
struct layout {
	unsigned int version;
	size_t ip, tcp, payload, end;
};

/* A packet with room for `room` bytes and none in it. Out of memory ends the program. */
struct packet *packet_new(size_t room);

/* A copy that nothing is shared with. */
struct packet *packet_copy(const struct packet *packet);

/* Find the headers; `link_len` is the length of the Ethernet header (0 on TUN). False: not IP. */
bool packet_layout(const struct packet *packet, size_t link_len, struct layout *ret_layout);

/* True when the packet stands for several segments. */
bool packet_is_large(const struct packet *packet);

/* Length at the IP layer of the packet, or of its largest segment when it stands for several. */
size_t packet_ip_len(const struct packet *packet, const struct layout *layout);

/* Write a partial checksum in full, as a network card does on transmission. */
void packet_finish_checksum(struct packet *packet, const struct layout *layout);

/* Write the IPv4 header checksum and the TCP checksum anew. */
void packet_write_checksums(struct packet *packet, const struct layout *layout);

/*
 * Cut segment `index` out of a large packet, as a network card does. NULL behind the last one.
 * The caller frees it.
 */
struct packet *packet_segment(const struct packet *large, const struct layout *layout,
			      unsigned int index);

/* Internet checksum over `len` bytes, begun with `sum`; not inverted, in host order. */
uint32_t checksum_add(uint32_t sum, const void *data, size_t len);

/* Fold and invert; big endian as it goes into a packet. */
uint16_t checksum_fold(uint32_t sum);

#endif
