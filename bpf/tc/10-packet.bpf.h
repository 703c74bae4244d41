/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 1, classify: is it a TCP segment that can be read, and where do its parts lie?
 *
 * packet_at() is the one gate to packet bytes. Later stages work with the offsets found here
 * and with helpers, since every change of a packet makes its pointers invalid.
 */
#ifndef CTXPROP_TC_PACKET_BPF_H
#define CTXPROP_TC_PACKET_BPF_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include "00-scratch.bpf.h"

/*
 * The network namespace that these programs serve: the low half of its cookie. 0: they serve
 * several, and the entry program of each says in the packet's cb which one it is (entry.bpf.c).
 */
const volatile __u32 netns_id __weak = 0;
/* Whether x-request-id counts as evidence. */
const volatile __u32 use_request_ids __weak = 1;

static __always_inline __u32 packet_netns(const struct __sk_buff *skb)
{
	return netns_id ?: skb->cb[ENTRY_CB];
}

/* As much of the kernel's structs as is needed; the places are found at load time. */
struct net {
	__u64 net_cookie;
} __attribute__((preserve_access_index));

struct possible_net___kernel {
	struct net *net;
} __attribute__((preserve_access_index));

struct sock_common {
	struct possible_net___kernel skc_net;
	__u16 skc_tx_queue_mapping;
} __attribute__((preserve_access_index));

struct sock {
	__u8 sk_shutdown;
} __attribute__((preserve_access_index));

/* The TCP socket that sends the packet. NULL: the packet is forwarded, or sent by a raw socket. */
static __always_inline struct sock_common *packet_socket(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;

	return sk ? (struct sock_common *)bpf_skc_to_tcp_sock(sk) : NULL;
}

/*
 * Is that a socket of this namespace? A packet that BPF programs redirect from device to device,
 * past routing, keeps its socket in other namespaces.
 */
static __always_inline int packet_is_own(struct __sk_buff *skb, struct sock_common *socket)
{
	if (!bpf_core_field_exists(struct net, net_cookie))
		return 1;
	return (__u32)socket->skc_net.net->net_cookie == packet_netns(skb);
}

/* An Ethernet header with one VLAN tag: so much a device carries beyond its MTU. */
#define VLAN_ETHERNET_HEADER 18

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_PSH 0x08
#define TCP_ACK 0x10
#define TCP_URG 0x20

/* Offsets in a TCP header (RFC 9293, 3.1). */
#define TCP_OFF_SEQ    4
#define TCP_OFF_ACK    8
#define TCP_OFF_FLAGS  13
#define TCP_OFF_WINDOW 14
#define TCP_OFF_CSUM   16

#define IPV6_OFF_LEN       4
#define IP_MORE_FRAGMENTS  0x2000
#define IP_FRAGMENT_OFFSET 0x1fff

/* A parsed packet: offsets from the start of the skb, numbers in host byte order. */
struct packet {
	__u32 l3;
	__u32 l4;
	__u32 payload; /* offset of the first payload byte */
	__u32 len;     /* payload bytes, by the IP header: short frames carry padding */
	__u32 seq;
	__u32 ack;
	__u32 way; /* packet_way() */
	__u16 window;
	__u16 csum; /* as it stands in the header */
	__u8 flags;
	__u8 proto; /* IPPROTO_TCP or an ICMP */
	__u8 ipv6;
	__u8 fragment;       /* the first of several: only its header can be changed */
	__u8 ip_options;     /* IP options or IPv6 extension headers */
	__u8 jumbo;          /* IPv6: its length stands in an option; see packet_is_jumbo() */
	__u8 side;           /* enum packet_side: how `key` was read */
	struct flow_key key; /* the flow: as the packet travels, or, inbound, the other way round */
};

/* Which hook a packet is at. */
enum packet_side { SIDE_OUT = 1, SIDE_IN = 2 };

/*
 * The device, the VLAN and the hop count of a packet, as one number that is never 0. It differs
 * when the same packet passes a second time, and is equal in a copy that the network has made.
 */
#define PACKET_WAY_HOPS 6 /* bits */
#define PACKET_WAY_BITS (PACKET_WAY_HOPS + 12 + 1)
#define PACKET_VLAN_ID  0xfff /* of a tag: 802.1Q */

static __always_inline __u32 packet_way(const struct __sk_buff *skb, __u8 hops)
{
	/* Without the priority, which may differ from packet to packet. */
	__u32 vlan = skb->vlan_tci & PACKET_VLAN_ID, device = (skb->ifindex ^ vlan * 0x5b5) & 0xfff;

	return (device | 0x1000) << PACKET_WAY_HOPS | (hops & ((1 << PACKET_WAY_HOPS) - 1));
}

/* Are two ways by the same device and VLAN? */
static __always_inline int packet_ways_meet(__u32 one, __u32 other)
{
	return (one ^ other) >> PACKET_WAY_HOPS == 0;
}

/* All headers begin within so many bytes (a power of two); the verifier wants to know. */
#define PACKET_HEADERS_MAX 1024

/*
 * skb->data and skb->data_end. In assembly, since the compiler takes them for 32-bit numbers
 * (as they are declared) and may extend them after the verifier has made pointers of them.
 */
static __always_inline void *packet_data(struct __sk_buff *skb)
{
	void *p;

	asm volatile("%0 = *(u32 *)(%1 + %2)"
		     : "=r"(p)
		     : "r"(skb), "i"(__builtin_offsetof(struct __sk_buff, data)));
	return p;
}

static __always_inline void *packet_data_end(struct __sk_buff *skb)
{
	void *p;

	asm volatile("%0 = *(u32 *)(%1 + %2)"
		     : "=r"(p)
		     : "r"(skb), "i"(__builtin_offsetof(struct __sk_buff, data_end)));
	return p;
}

/* `size` bytes at `off`, pulled into the linear part if need be; NULL if there are not so many. */
static __always_inline void *packet_at(struct __sk_buff *skb, __u32 off, __u32 size)
{
	void *p;

	if (!index_within(&off, PACKET_HEADERS_MAX))
		return NULL;
	p = packet_data(skb) + off;
	if (p + size <= packet_data_end(skb))
		return p;
	if (off + size > skb->len || bpf_skb_pull_data(skb, off + size))
		return NULL;
	p = packet_data(skb) + off;
	return p + size <= packet_data_end(skb) ? p : NULL;
}

/* Network header's offset and EtherType (network byte order; 0: cannot tell). */
static __always_inline __be16 packet_ethertype(struct __sk_buff *skb, int ethernet, __u32 *l3)
{
	__be16 type = skb->protocol;

	if (!ethernet) {
		*l3 = 0;
		return type;
	}
	*l3 = sizeof(struct ethhdr);
	/* Tags that the device did not strip stand in the frame; two are allowed (802.1ad). */
	for (int i = 0; i < 2; i++) {
		if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD))
			break;
		__be16 *tag = packet_at(skb, *l3, 4);

		if (!tag)
			return 0;
		type = tag[1];
		*l3 += 4;
	}
	return type;
}

/* Where the packet's own addresses stand in the key of its flow. */
static __always_inline __u8 *packet_source(struct packet *p, enum packet_side side)
{
	return side == SIDE_OUT ? p->key.src : p->key.dst;
}

static __always_inline __u8 *packet_destination(struct packet *p, enum packet_side side)
{
	return side == SIDE_OUT ? p->key.dst : p->key.src;
}

/* Stored as whole words: the flow table loads them soon after, and a load that spans two smaller
 * stores has to wait for both. */
static __always_inline void packet_map_ipv4(__u8 *to, __be32 address)
{
	__u64 *word = (__u64 *)to;

	word[0] = 0;
	word[1] = (__u64)address << 32 | bpf_htonl(0xffff);
}

/* Returns the length of what follows the network header, or -1. */
static __always_inline int packet_parse_ipv4(struct __sk_buff *skb, enum packet_side side,
					     struct packet *p)
{
	struct iphdr *ip = packet_at(skb, p->l3, sizeof(*ip));

	if (!ip || ip->version != 4 || ip->ihl < 5)
		return -1;

	__u32 header = ip->ihl * 4, total = bpf_ntohs(ip->tot_len);
	__u16 frag = bpf_ntohs(ip->frag_off);

	if (frag & IP_FRAGMENT_OFFSET)
		return -1; /* no TCP header in it */
	if (!total && skb->gso_size)
		total = skb->len - p->l3; /* BIG TCP */
	if (total < header || p->l3 + total > skb->len)
		return -1;
	p->ipv6 = p->jumbo = 0;
	p->fragment = !!(frag & IP_MORE_FRAGMENTS);
	p->ip_options = header > sizeof(*ip);
	p->proto = ip->protocol;
	p->way = packet_way(skb, ip->ttl);
	p->l4 = p->l3 + header;
	packet_map_ipv4(packet_source(p, side), ip->saddr);
	packet_map_ipv4(packet_destination(p, side), ip->daddr);
	return total - header;
}

/* Extension headers that may stand in front of TCP. */
static __always_inline int ipv6_extension(__u8 next)
{
	return next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS ||
	       next == IPPROTO_FRAGMENT;
}

/* The smallest extension header (RFC 8200, 4.3). */
#define IPV6_EXTENSION_LEN 8

/* An IPv6 fragment: offset, two reserved bits, and whether more follow (RFC 8200, 4.5). */
#define IPV6_FRAGMENT_OFFSET 0xfff8
#define IPV6_FRAGMENT_MORE   0x0001
#define IPV6_OFF_FRAGMENT    2

/* What stands behind a fragment header; -1: not TCP, since it is not the first fragment. */
static __always_inline int packet_parse_fragment(struct packet *p, const __u8 *header, __u32 len)
{
	__u16 fragment = bpf_ntohs(*(const __be16 *)(header + IPV6_OFF_FRAGMENT));

	if ((fragment & IPV6_FRAGMENT_OFFSET) || len < IPV6_EXTENSION_LEN)
		return -1;
	p->fragment = fragment & IPV6_FRAGMENT_MORE;
	p->proto = header[0];
	p->l4 += IPV6_EXTENSION_LEN;
	p->ip_options = 1;
	return len - IPV6_EXTENSION_LEN;
}

/*
 * Is that the header of a packet above 64 KB (RFC 2675), and nothing else? With BIG TCP Linux adds
 * it to packets that the device will segment, and removes it again: it is never on the wire.
 */
static __always_inline int packet_is_jumbo(const struct __sk_buff *skb, __u8 kind,
					   const __u8 *header)
{
	return kind == IPPROTO_HOPOPTS && skb->gso_size && !header[1] &&
	       header[2] == IPV6_TLV_JUMBO && header[3] == 4;
}

/* Step over the extension headers at p->l4. Returns what is left of `len`, or -1. */
static __always_inline int packet_parse_extensions(struct __sk_buff *skb, struct packet *p,
						   __u32 len)
{
	for (int i = 0; i < 3; i++) {
		__u8 *header;
		__u32 size;

		if (!ipv6_extension(p->proto))
			break;
		header = packet_at(skb, p->l4, IPV6_EXTENSION_LEN);
		if (!header)
			return -1;
		if (p->proto == IPPROTO_FRAGMENT)
			return packet_parse_fragment(p, header, len);
		size = IPV6_EXTENSION_LEN + header[1] * 8;
		if (size > len)
			return -1;
		if (packet_is_jumbo(skb, p->proto, header))
			p->jumbo = 1;
		else
			p->ip_options = 1;
		p->proto = header[0];
		p->l4 += size;
		len -= size;
	}
	return len;
}

static __always_inline int packet_parse_ipv6(struct __sk_buff *skb, enum packet_side side,
					     struct packet *p)
{
	struct ipv6hdr *ip = packet_at(skb, p->l3, sizeof(*ip));

	if (!ip || ip->version != 6)
		return -1;

	__u32 len = bpf_ntohs(ip->payload_len);

	if (!len && skb->gso_size)
		len = skb->len - p->l3 - sizeof(*ip); /* BIG TCP */
	if (p->l3 + sizeof(*ip) + len > skb->len)
		return -1;
	p->ipv6 = 1;
	p->fragment = p->ip_options = p->jumbo = 0;
	p->proto = ip->nexthdr;
	p->way = packet_way(skb, ip->hop_limit);
	p->l4 = p->l3 + sizeof(*ip);
	__builtin_memcpy(packet_source(p, side), &ip->saddr, 16);
	__builtin_memcpy(packet_destination(p, side), &ip->daddr, 16);
	return ipv6_extension(p->proto) ? packet_parse_extensions(skb, p, len) : (int)len;
}

static __always_inline int packet_parse_ip(struct __sk_buff *skb, int ethernet,
					   enum packet_side side, struct packet *p)
{
	__be16 type = packet_ethertype(skb, ethernet, &p->l3);

	if (type == bpf_htons(ETH_P_IP))
		return packet_parse_ipv4(skb, side, p);
	if (type == bpf_htons(ETH_P_IPV6))
		return packet_parse_ipv6(skb, side, p);
	return -1;
}

static __always_inline int packet_parse_tcp(struct __sk_buff *skb, enum packet_side side,
					    struct packet *p, __u32 len)
{
	struct tcphdr *tcp = packet_at(skb, p->l4, sizeof(*tcp));
	__u32 header, sport, dport;

	if (!tcp)
		return -1;
	header = tcp->doff * 4;
	if (header < sizeof(*tcp) || header > len) {
		count(REASON_TRUNCATED);
		return -1;
	}
	p->payload = p->l4 + header;
	p->len = len - header;
	p->seq = bpf_ntohl(tcp->seq);
	p->ack = bpf_ntohl(tcp->ack_seq);
	p->window = bpf_ntohs(tcp->window);
	p->csum = tcp->check;
	p->flags = ((__u8 *)tcp)[TCP_OFF_FLAGS];
	sport = side == SIDE_OUT ? tcp->source : tcp->dest;
	dport = side == SIDE_OUT ? tcp->dest : tcp->source;
	*(__u64 *)&p->key.sport = sport | dport << 16 | (__u64)packet_netns(skb) << 32;
	return 0;
}

/*
 * Parse a TCP segment or note an ICMP message. Returns 0 for TCP, 1 for ICMP (only l3, l4,
 * ipv6 and proto are set then), -1 for everything else.
 */
static __always_inline int packet_parse(struct __sk_buff *skb, int ethernet, enum packet_side side,
					struct packet *p)
{
	int len;

	p->side = side;
	len = packet_parse_ip(skb, ethernet, side, p);
	if (len < 0)
		return -1;
	if (p->proto == IPPROTO_TCP)
		return packet_parse_tcp(skb, side, p, len);
	if (p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6)
		return 1;
	return -1;
}

static __always_inline __u32 packet_tcp_header(const struct packet *p)
{
	return p->payload - p->l4;
}

/*
 * One packet can meet the hooks of several devices that are stacked on each other (bridge and
 * port, bond and slave), but must be renumbered only once. The mark in skb->tc_index says which
 * hooks of which namespace have done so: two bits for the sides, fourteen for the namespace.
 */
#define PACKET_MARK_MASK (ATTENDED_MAX - 1)

static __always_inline int packet_marked(const struct __sk_buff *skb, enum packet_side side)
{
	__u32 mark = skb->tc_index;

	return (mark & side) && mark >> 2 == (packet_netns(skb) & PACKET_MARK_MASK);
}

static __always_inline void packet_mark(struct __sk_buff *skb, enum packet_side side)
{
	__u32 mark = skb->tc_index, netns = packet_netns(skb) & PACKET_MARK_MASK;

	if (mark >> 2 != netns)
		mark = netns << 2;
	skb->tc_index = mark | side;
}

#endif
