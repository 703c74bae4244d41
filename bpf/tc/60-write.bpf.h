/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 6, write: the only file that changes packets.
 *
 * What is at hand is changed in place. For that the kernel makes a program look after each cloned
 * packet before it begins, and what a local socket sends is cloned; but its headers are the
 * packet's own, so this costs less than a single helper that stores bytes.
 *
 * Checksums. Under CHECKSUM_PARTIAL the TCP checksum field holds the sum of the pseudo header
 * alone and the rest is filled in later; otherwise it covers everything. Before Linux 6.2 a program
 * cannot see which it is, but bpf_l4_csum_replace() can: without BPF_F_PSEUDO_HDR it does nothing
 * under CHECKSUM_PARTIAL, with it (needed for the length) it acts in both cases.
 *
 * Every function returns 0 or a negative error; after the first success on a packet, an error
 * of a later one means that the packet has to be dropped.
 */
#ifndef CTXPROP_TC_WRITE_BPF_H
#define CTXPROP_TC_WRITE_BPF_H

#include "20-flow.bpf.h"
#include "checksum.bpf.h"

/*
 * To be called before anything is written. Packets that GRO has joined as a list leave as they
 * came, each with the headers of its own: none but the first would hear of a change. As one piece,
 * without the list, they are segmented like any others.
 */
static __always_inline long write_begin(struct __sk_buff *skb)
{
	return packet_is_list(skb) ? bpf_skb_pull_data(skb, skb->len) : 0;
}

/* Cut the packet to, or grow it to, `len` bytes in all. Clears GSO; so only for plain packets. */
static __always_inline long write_size(struct __sk_buff *skb, __u32 len)
{
	return bpf_skb_change_tail(skb, len, 0);
}

/* Overwrite `n` bytes at `off` with scratch.wire[from..from + n). The checksum is not touched. */
static __always_inline long write_bytes(struct __sk_buff *skb, __u32 off, struct scratch *s,
					__u32 from, __u32 n)
{
	if (!index_within(&from, WIRE_SIZE) || !size_within(&n, WIRE_MAX))
		return -1;
	return bpf_skb_store_bytes(skb, off, s->wire + from, n, 0);
}

/* Write a line at `off`, and behind it the two bytes that stand there now. */
static __always_inline long write_line(struct __sk_buff *skb, __u32 off,
				       struct traceparent_line *line)
{
	__u8 *at = packet_at(skb, off, sizeof(*line));
	const __u16 *behind = (const __u16 *)at;

	if (!at)
		return -1;
	line->word[8] |= (__u64)*behind << 48;
	for (int i = 0; i < 9; i++)
		*(volatile __u64 *)(at + 8 * i) = line->word[i];
	return 0;
}

/*
 * Add `diff`, the sum of what was added less the sum of what was removed, to the TCP checksum,
 * unless it is CHECKSUM_PARTIAL.
 */
static __always_inline long write_csum_diff(struct __sk_buff *skb, const struct packet *p,
					    __u32 diff)
{
	return bpf_l4_csum_replace(skb, p->l4 + TCP_OFF_CSUM, 0, diff, 0);
}

/* A number at `off` becomes another one, which the checksum at `csum` covers; network byte order.
 */
static __always_inline long write_quoted(struct __sk_buff *skb, __u32 csum, __u32 off, __be32 old,
					 __be32 new)
{
	if (bpf_l4_csum_replace(skb, csum, old, new, sizeof(new)))
		return -1;
	return bpf_skb_store_bytes(skb, off, &new, sizeof(new), 0);
}

/* What it adds to a sum when a number of the header changes; all in host byte order. */
static __always_inline __u64 csum_of_number(__u32 old, __u32 new)
{
	return (__u64)(__u32)~bpf_htonl(old) + bpf_htonl(new);
}

static __always_inline __u64 csum_of_short(__u16 old, __u16 new)
{
	return (__u64)(__u16)~bpf_htons(old) + bpf_htons(new);
}

/* A checksum after a change of what it covers (RFC 1624: HC' = ~(~HC + ~m + m')). */
static __always_inline __u16 csum_changed(__u16 csum, __u64 diff)
{
	return ~csum_fold((__u16)~csum + diff);
}

/* By how much the sum changes that the TCP checksum covers. */
static __always_inline __u64 ack_diff(const struct packet *p, __u32 ack, __u16 window)
{
	return csum_of_number(p->ack, ack) + csum_of_short(p->window, window);
}

static __always_inline long write_ack_by_helpers(struct __sk_buff *skb, const struct packet *p,
						 __u32 ack, __u16 window)
{
	__be32 wire_ack = bpf_htonl(ack);
	__be16 wire_window = bpf_htons(window);

	if (write_csum_diff(skb, p, csum_fold(ack_diff(p, ack, window))) ||
	    bpf_skb_store_bytes(skb, p->l4 + TCP_OFF_ACK, &wire_ack, sizeof(wire_ack), 0))
		return -1;
	return bpf_skb_store_bytes(skb, p->l4 + TCP_OFF_WINDOW, &wire_window, sizeof(wire_window),
				   0);
}

/* Acknowledgement and window, and the checksum with them. */
static __always_inline long write_ack(struct __sk_buff *skb, const struct packet *p, __u32 ack,
				      __u16 window)
{
	int kind = packet_csum(skb);
	struct tcphdr *tcp;

	if (kind == PACKET_CSUM_UNKNOWN)
		return write_ack_by_helpers(skb, p, ack, window);
	tcp = packet_at(skb, p->l4, sizeof(*tcp));
	if (!tcp)
		return -1;
	if (kind != PACKET_CSUM_PARTIAL)
		tcp->check = csum_changed(tcp->check, ack_diff(p, ack, window));
	tcp->ack_seq = bpf_htonl(ack);
	tcp->window = bpf_htons(window);
	return 0;
}

/* How the headers of an outbound packet change. */
struct header_change {
	__u32 old_len, len; /* TCP header and payload */
	__u32 seq;
	__u32 clear; /* flags */
	__u64 sum;   /* of the payload bytes that came, less those that went */
};

/* By how much the sum changes that the TCP checksum covers, pseudo header left out. */
static __always_inline __u64 header_diff(const struct packet *p, const struct header_change *c)
{
	return c->sum + csum_of_number(p->seq, c->seq) +
	       csum_of_short(p->flags, p->flags & ~c->clear);
}

/* The checksum, where it is not known what it is. */
static __always_inline long write_csum_by_helpers(struct __sk_buff *skb, const struct packet *p,
						  const struct header_change *c)
{
	long err = 0;

	if (c->len != c->old_len)
		err = bpf_l4_csum_replace(skb, p->l4 + TCP_OFF_CSUM, bpf_htonl(c->old_len),
					  bpf_htonl(c->len), BPF_F_PSEUDO_HDR | 4);
	return err ?: write_csum_diff(skb, p, csum_fold(header_diff(p, c)));
}

static __always_inline void header_change_ipv4(struct iphdr *ip, const struct packet *p, __u32 len)
{
	__be16 old = ip->tot_len;

	ip->tot_len = bpf_htons(len + p->l4 - p->l3);
	ip->check = csum_changed(ip->check, (__u64)(__u16)~old + ip->tot_len);
}

static __always_inline void header_change_tcp(struct tcphdr *tcp, int kind, const struct packet *p,
					      const struct header_change *c)
{
	__u64 length = csum_of_number(c->old_len, c->len);

	tcp->seq = bpf_htonl(c->seq);
	((__u8 *)tcp)[TCP_OFF_FLAGS] &= ~c->clear;
	if (kind == PACKET_CSUM_PARTIAL)
		tcp->check = csum_fold(tcp->check + length); /* it is inverted in the end */
	else if (kind != PACKET_CSUM_UNKNOWN)
		tcp->check = csum_changed(tcp->check, length + header_diff(p, c));
}

/* The same in IPv6. The header stays: a fragment that is all there is (RFC 6946). */
static __always_inline long write_unfragmented_ipv6(struct __sk_buff *skb, const struct packet *p)
{
	__u8 *header = packet_at(skb, p->l4 - IPV6_EXTENSION_LEN, IPV6_EXTENSION_LEN);

	if (!header)
		return -1;
	*(__be16 *)(header + IPV6_OFF_FRAGMENT) &= ~bpf_htons(IPV6_FRAGMENT_MORE);
	return 0;
}

/* What was the first fragment of a packet is a whole one. */
static __always_inline long write_unfragmented(struct __sk_buff *skb, const struct packet *p)
{
	struct iphdr *ip = packet_at(skb, p->l3, sizeof(*ip));
	__be16 old, more = bpf_htons(IP_MORE_FRAGMENTS);

	if (p->ipv6)
		return write_unfragmented_ipv6(skb, p);
	if (!ip)
		return -1;
	old = ip->frag_off;
	ip->frag_off = old & ~more;
	ip->check = csum_changed(ip->check, (__u64)(__u16)~old + ip->frag_off);
	return 0;
}

/*
 * What was above 64 KB is not any more: its header for that is taken out, and `p` says so. (What
 * stands before it is moved: whoever fills in a checksum later still finds where it begins.)
 */
static __always_inline long write_no_jumbo(struct __sk_buff *skb, struct packet *p)
{
	struct ipv6hdr *ip = packet_at(skb, p->l3, sizeof(*ip) + IPV6_EXTENSION_LEN);

	if (!ip)
		return -1;
	ip->nexthdr = *(const __u8 *)(ip + 1);
	p->l4 -= IPV6_EXTENSION_LEN;
	p->payload -= IPV6_EXTENSION_LEN;
	return bpf_skb_adjust_room(skb, -IPV6_EXTENSION_LEN, BPF_ADJ_ROOM_NET, 0);
}

/* The length in the IP header; `len`: TCP header and payload. */
static __always_inline long write_ip_length(struct __sk_buff *skb, const struct packet *p,
					    __u32 len)
{
	struct ipv6hdr *ip6;
	struct iphdr *ip;

	if (p->ipv6) {
		ip6 = packet_at(skb, p->l3, sizeof(*ip6));
		if (!ip6)
			return -1;
		ip6->payload_len = bpf_htons(len + p->l4 - p->l3 - sizeof(*ip6));
		return 0;
	}
	ip = packet_at(skb, p->l3, sizeof(*ip));
	if (!ip)
		return -1;
	header_change_ipv4(ip, p, len);
	return 0;
}

/*
 * Lengths, sequence number, flags and checksum, of a packet whose payload has been written or will
 * not be. Each helper costs more than all that there is to compute: none where it can be.
 */
static __always_inline long write_headers(struct __sk_buff *skb, const struct packet *p,
					  const struct header_change *c)
{
	int kind = packet_csum(skb);
	struct tcphdr *tcp;

	if (kind == PACKET_CSUM_UNKNOWN && write_csum_by_helpers(skb, p, c))
		return -1;
	if (c->len != c->old_len && write_ip_length(skb, p, c->len))
		return -1;
	tcp = packet_at(skb, p->l4, sizeof(*tcp));
	if (!tcp)
		return -1;
	header_change_tcp(tcp, kind, p, c);
	return 0;
}

/* The options of the TCP header: scratch.header was, scratch.header_new is; `len` bytes. */
static __always_inline long write_options(struct __sk_buff *skb, const struct packet *p,
					  struct scratch *s, __u32 len)
{
	__s64 diff;

	if (!size_within(&len, TCP_OPTIONS_MAX))
		return -1;
	diff = bpf_csum_diff((__be32 *)s->header, len, (__be32 *)s->header_new, len, 0);
	if (diff < 0)
		return diff;
	diff = write_csum_diff(skb, p, diff);
	return diff
		   ?: bpf_skb_store_bytes(skb, p->l4 + sizeof(struct tcphdr), s->header_new, len,
					  0);
}

/*
 * Give the packet the checksum of its TCP header as it stands now and of `payload`, a sum of
 * payload bytes. For packets whose old payload is not known as a whole. Call last.
 */
static __always_inline long write_csum_anew(struct __sk_buff *skb, const struct packet *p,
					    struct scratch *s, __u64 payload, __u32 payload_len)
{
	__u32 header = packet_tcp_header(p), old;
	__u64 sum;

	if (!size_within(&header, 60))
		return -1;
	if (bpf_skb_load_bytes(skb, p->l4, s->header, header))
		return -1;
	old = *(__u16 *)(s->header + TCP_OFF_CSUM);
	*(__u16 *)(s->header + TCP_OFF_CSUM) = 0;
	sum = csum_pseudo(p, header + payload_len) + payload;
	sum += (__u32)bpf_csum_diff(NULL, 0, (__be32 *)s->header, header, 0);
	/* Not "set to", which would ruin CHECKSUM_PARTIAL, but "change from old to". */
	return write_csum_diff(skb, p, old + csum_fold(sum));
}

#endif
