// SPDX-License-Identifier: Apache-2.0
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "packet.h"

const uint8_t our_ipv4[4] = {8, 0, 1, 1};
const uint8_t peer_ipv4[4] = {8, 0, 2, 2};
const uint8_t our_ipv6[16] = {0x20, 0x01, 0x0d, 0xb8, 0x86, 0xdd, 0, 1, [15] = 1};
const uint8_t peer_ipv6[16] = {0x20, 0x01, 0x0d, 0xb8, 0x86, 0xdd, 0, 2, [15] = 2};

#define IPV4_HEADER 20
#define IPV6_HEADER 40
#define TCP_HEADER  20
#define FIRST_VLAN  100

void put16(uint8_t *to, uint16_t v)
{
	to[0] = v >> 8;
	to[1] = v;
}

void put32(uint8_t *to, uint32_t v)
{
	put16(to, v >> 16);
	put16(to + 2, v);
}

uint16_t get16(const uint8_t *from)
{
	return from[0] << 8 | from[1];
}

uint32_t get32(const uint8_t *from)
{
	return (uint32_t)get16(from) << 16 | get16(from + 2);
}

uint64_t packet_sum(const void *bytes, size_t len, uint64_t sum)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? byte[i] : (uint64_t)byte[i] << 8;
	return sum;
}

uint16_t packet_checksum(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

uint64_t packet_pseudo_sum(const struct segment *s, uint8_t proto, size_t len)
{
	uint64_t sum = len + proto;

	if (s->shape.ipv6)
		return packet_sum(our_ipv6, 16, packet_sum(peer_ipv6, 16, sum));
	return packet_sum(our_ipv4, 4, packet_sum(peer_ipv4, 4, sum));
}

size_t packet_network_offset(const struct shape *shape)
{
	return shape->ip_device ? 0 : ETH_HLEN + 4u * shape->tags;
}

static size_t ip_header_len(const struct segment *s)
{
	if (!s->shape.ipv6)
		return IPV4_HEADER + s->ip_options;
	return IPV6_HEADER + s->ip_options + (s->fragment ? 8 : 0);
}

size_t packet_tcp_offset(const struct segment *s)
{
	return packet_network_offset(&s->shape) + ip_header_len(s);
}

size_t packet_payload_offset(const struct segment *s)
{
	return packet_tcp_offset(s) + TCP_HEADER + s->options_len;
}

size_t packet_link_header(const struct shape *shape, bool from_peer, struct frame *ret_frame)
{
	uint8_t *to = ret_frame->data;
	uint16_t type = shape->ipv6 ? ETH_P_IPV6 : ETH_P_IP;

	if (shape->ip_device)
		return 0;
	/* Locally administered addresses; the last byte tells the sides apart. */
	memcpy(to, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01", 12);
	to[5] = from_peer ? 1 : 2;
	to[11] = from_peer ? 2 : 1;
	for (int i = 0; i < shape->tags; i++) {
		bool outer = i + 1 < shape->tags;

		put16(to + 12 + 4 * i, outer ? ETH_P_8021AD : ETH_P_8021Q);
		put16(to + 14 + 4 * i, FIRST_VLAN + i);
	}
	put16(to + 12 + 4 * shape->tags, type);
	return ETH_HLEN + 4u * shape->tags;
}

static size_t ipv4_header(const struct segment *s, uint8_t proto, size_t len, uint8_t *at)
{
	size_t header = IPV4_HEADER + s->ip_options;

	memset(at, 0, header);
	at[0] = 0x40 | header / 4;
	put16(at + 2, header + len);
	put16(at + 4, 0x1234);
	put16(at + 6, s->fragment ? s->fragment : 0x4000);
	at[8] = 64 - s->hops;
	at[9] = proto;
	memcpy(at + 12, s->from_peer ? peer_ipv4 : our_ipv4, 4);
	memcpy(at + 16, s->from_peer ? our_ipv4 : peer_ipv4, 4);
	memset(at + IPV4_HEADER, 1, s->ip_options);
	put16(at + 10, packet_checksum(packet_sum(at, header, 0)));
	return header;
}

/* A hop-by-hop header of nothing but padding, if asked for. Returns its length. */
static size_t ipv6_hop_by_hop(size_t len, uint8_t next, uint8_t *at)
{
	if (!len)
		return 0;
	assert_true(len % 8 == 0);
	memset(at, 0, len);
	at[0] = next;
	at[1] = len / 8 - 1;
	at[2] = 1; /* PadN over the rest */
	at[3] = len - 4;
	return len;
}

static size_t ipv6_fragment_header(uint16_t fragment, uint8_t next, uint8_t *at)
{
	if (!fragment)
		return 0;
	memset(at, 0, 8);
	at[0] = next;
	put16(at + 2, fragment);
	put32(at + 4, 0x12345678);
	return 8;
}

static size_t ipv6_header(const struct segment *s, uint8_t proto, size_t len, uint8_t *at)
{
	size_t header = ip_header_len(s), n = IPV6_HEADER;
	uint8_t next = s->fragment ? IPPROTO_FRAGMENT : proto;

	memset(at, 0, IPV6_HEADER);
	at[0] = 0x60;
	put16(at + 4, header - IPV6_HEADER + len);
	at[6] = s->ip_options ? IPPROTO_HOPOPTS : next;
	at[7] = 64 - s->hops;
	memcpy(at + 8, s->from_peer ? peer_ipv6 : our_ipv6, 16);
	memcpy(at + 24, s->from_peer ? our_ipv6 : peer_ipv6, 16);
	n += ipv6_hop_by_hop(s->ip_options, next, at + n);
	n += ipv6_fragment_header(s->fragment, proto, at + n);
	return n;
}

size_t packet_ip_header(const struct segment *s, uint8_t proto, size_t len, uint8_t *at)
{
	return s->shape.ipv6 ? ipv6_header(s, proto, len, at) : ipv4_header(s, proto, len, at);
}

static void tcp_header(const struct segment *s, uint8_t *at)
{
	put16(at, s->from_peer ? PEER_PORT : s->port);
	put16(at + 2, s->from_peer ? s->port : PEER_PORT);
	put32(at + 4, s->seq);
	put32(at + 8, s->ack);
	at[12] = (TCP_HEADER + s->options_len) / 4 << 4 | s->accurate;
	at[13] = s->flags;
	put16(at + 14, s->window);
	put16(at + 16, 0);
	put16(at + 18, s->urgent);
	if (s->options_len)
		memcpy(at + TCP_HEADER, s->options, s->options_len);
}

static void tcp_checksum(const struct segment *s, uint8_t *at, size_t len)
{
	uint64_t sum = packet_pseudo_sum(s, IPPROTO_TCP, len);

	put16(at + 16,
	      s->partial ? ~packet_checksum(sum) : packet_checksum(packet_sum(at, len, sum)));
}

void packet_build(const struct segment *s, struct frame *ret_frame)
{
	size_t len = TCP_HEADER + s->options_len + s->payload_len;
	size_t at = packet_link_header(&s->shape, s->from_peer, ret_frame);
	uint8_t *tcp;

	assert_true(s->options_len % 4 == 0 && s->options_len <= 40);
	assert_true(at + IPV6_HEADER + s->ip_options + 8 + len + s->padding <= FRAME_MAX);
	at += packet_ip_header(s, IPPROTO_TCP, len, ret_frame->data + at);
	tcp = ret_frame->data + at;
	tcp_header(s, tcp);
	if (s->payload_len)
		memcpy(tcp + TCP_HEADER + s->options_len, s->payload, s->payload_len);
	tcp_checksum(s, tcp, len);
	at += len;
	memset(ret_frame->data + at, 0, s->padding);
	ret_frame->len = at + s->padding;
}
