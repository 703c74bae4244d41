/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds whole frames out of a description, with their lengths and checksums, so that what a
 * program made of a packet can be compared with what it should be, every byte of it.
 */
#ifndef CTXPROP_TEST_PACKET_H
#define CTXPROP_TEST_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX 66000

#define FIN 0x01
#define SYN 0x02
#define RST 0x04
#define PSH 0x08
#define ACK 0x10
#define URG 0x20
#define ECE 0x40
#define CWR 0x80

/* A packet as it stands in a buffer. */
struct frame {
	size_t len;
	uint8_t data[FRAME_MAX];
};

/* What stands in front of a TCP segment. */
struct shape {
	const char *name;
	bool ip_device; /* no Ethernet header: the frame begins with the IP header */
	bool ipv6;
	uint8_t tags;    /* VLAN tags in the frame */
	uint8_t options; /* bytes of TCP options that an ordinary segment carries: 0, 12 or 40 */
};

/* A TCP segment; numbers in host byte order. */
struct segment {
	struct shape shape;
	bool from_peer;
	uint16_t port; /* of our side */
	uint32_t seq;
	uint32_t ack;
	uint8_t flags;
	bool accurate; /* AE, the highest bit of AccECN's number */
	uint16_t window;
	uint16_t urgent;
	const uint8_t *options; /* not owned */
	size_t options_len;     /* a multiple of 4 */
	const uint8_t *payload; /* not owned */
	size_t payload_len;
	uint16_t fragment; /* IPv4: flags and offset; IPv6: not 0 adds a fragment header */
	size_t ip_options; /* IPv4: bytes of NOPs, a multiple of 4; IPv6: of a hop-by-hop header */
	uint8_t hops;      /* that it has made already */
	size_t padding;    /* bytes behind the end of the IP packet */
	bool partial;      /* only the pseudo header is summed up: CHECKSUM_PARTIAL */
};

/*
 * Both sides have addresses that read as their EtherType where a frame has it (0x0800 in IPv4,
 * 0x86dd in IPv6): BPF_PROG_TEST_RUN takes the first 14 bytes for an Ethernet header always, and
 * so believes of a packet without one what it should.
 */
extern const uint8_t our_ipv4[4], peer_ipv4[4], our_ipv6[16], peer_ipv6[16];
#define PEER_PORT 80

/* Write the frame of a segment. */
void packet_build(const struct segment *s, struct frame *ret_frame);

/* Where the network header, the TCP header and the payload of a built frame begin. */
size_t packet_network_offset(const struct shape *shape);
size_t packet_tcp_offset(const struct segment *s);
size_t packet_payload_offset(const struct segment *s);

/* Begin a frame with what stands before the network header. Returns its length. */
size_t packet_link_header(const struct shape *shape, bool from_peer, struct frame *ret_frame);

/* Write an IP header for `len` bytes of protocol `proto` at `at`. Returns its length. */
size_t packet_ip_header(const struct segment *s, uint8_t proto, size_t len, uint8_t *at);

/* The ones' complement sum of `len` bytes, on top of `sum`; not folded. */
uint64_t packet_sum(const void *bytes, size_t len, uint64_t sum);

/* The Internet checksum of a sum (RFC 1071), in host byte order. */
uint16_t packet_checksum(uint64_t sum);

/* Sum of the pseudo header for `len` bytes of protocol `proto`. */
uint64_t packet_pseudo_sum(const struct segment *s, uint8_t proto, size_t len);

void put16(uint8_t *to, uint16_t v);
void put32(uint8_t *to, uint32_t v);
uint16_t get16(const uint8_t *from);
uint32_t get32(const uint8_t *from);

#endif
