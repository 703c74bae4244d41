/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 6, write: the only file with helpers that change a packet.
 *
 * Checksums. Under CHECKSUM_PARTIAL the TCP checksum field holds the sum of the pseudo header
 * alone and the rest is filled in later; otherwise it covers everything. A program cannot see
 * which it is, but bpf_l4_csum_replace() can: without BPF_F_PSEUDO_HDR it does nothing under
 * CHECKSUM_PARTIAL, with it (needed for the length) it acts in both cases.
 *
 * Every function returns 0 or a negative error; after the first success on a packet, an error
 * of a later one means that the packet has to be dropped.
 */
#ifndef CTXPROP_TC_WRITE_BPF_H
#define CTXPROP_TC_WRITE_BPF_H

#include "20-flow.bpf.h"
#include "checksum.bpf.h"

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

/* Add `diff`, the sum of what was added less the sum of what was removed, to the TCP checksum. */
static __always_inline long write_csum_diff(struct __sk_buff *skb, const struct packet *p,
					    __u32 diff)
{
	return bpf_l4_csum_replace(skb, p->l4 + TCP_OFF_CSUM, 0, diff, 0);
}

/* A 32-bit number of the TCP header, host byte order, and the checksum with it. */
static __always_inline long write_number(struct __sk_buff *skb, const struct packet *p, __u32 off,
					 __u32 old, __u32 new)
{
	__be32 wire = bpf_htonl(new);
	long err;

	err = bpf_l4_csum_replace(skb, p->l4 + TCP_OFF_CSUM, bpf_htonl(old), wire, sizeof(wire));
	return err ?: bpf_skb_store_bytes(skb, p->l4 + off, &wire, sizeof(wire), 0);
}

static __always_inline long write_window(struct __sk_buff *skb, const struct packet *p, __u16 new)
{
	__be16 wire = bpf_htons(new);
	long err;

	err = bpf_l4_csum_replace(skb, p->l4 + TCP_OFF_CSUM, bpf_htons(p->window), wire,
				  sizeof(wire));
	return err ?: bpf_skb_store_bytes(skb, p->l4 + TCP_OFF_WINDOW, &wire, sizeof(wire), 0);
}

/* Acknowledgement and window, by helpers, which know what the checksum is. */
static __always_inline long write_ack_by_helpers(struct __sk_buff *skb, const struct packet *p,
						 __u32 ack, __u16 window)
{
	long err = 0;

	if (ack != p->ack)
		err = write_number(skb, p, TCP_OFF_ACK, p->ack, ack);
	if (!err && window != p->window)
		err = write_window(skb, p, window);
	return err;
}

/* Acknowledgement and window, and the checksum with them: in place, where that can be known. */
static __always_inline long write_ack(struct __sk_buff *skb, const struct packet *p, __u32 ack,
				      __u16 window)
{
	int kind = packet_csum(skb);
	struct tcphdr *tcp;
	__u64 sum;

	if (kind == PACKET_CSUM_UNKNOWN)
		return write_ack_by_helpers(skb, p, ack, window);
	tcp = packet_at(skb, p->l4, sizeof(*tcp));
	if (!tcp)
		return -1;
	tcp->ack_seq = bpf_htonl(ack);
	tcp->window = bpf_htons(window);
	if (kind == PACKET_CSUM_PARTIAL)
		return 0;
	/* RFC 1624: HC' = ~(~HC + ~m + m') */
	sum = (__u64)(__u32)~bpf_htonl(p->ack) + bpf_htonl(ack) + (__u16)~bpf_htons(p->window) +
	      bpf_htons(window);
	tcp->check = ~csum_fold((__u16)~tcp->check + sum);
	return 0;
}

/* The first 12 bytes of an IPv4 header: length and checksum are among them. */
struct ipv4_start {
	__be16 version_tos;
	__be16 len;
	__be16 id;
	__be16 frag;
	__be16 ttl_proto;
	__sum16 csum;
};

/* The length in the IPv4 header, and its checksum (RFC 1624: HC' = ~(~HC + ~m + m')). */
static __always_inline long write_ipv4_length(struct __sk_buff *skb, const struct packet *p,
					      __be16 len)
{
	struct ipv4_start *now = packet_at(skb, p->l3, sizeof(*now)), new;

	if (!now)
		return -1;
	new = *now;
	new.csum = ~csum_fold((__u16)~now->csum + (__u16)~now->len + (__u64)len);
	new.len = len;
	return bpf_skb_store_bytes(skb, p->l3, &new, sizeof(new), 0);
}

/*
 * The length fields, of the IP header and of TCP's pseudo header. `len`: TCP header and payload,
 * `old`: the same as it was.
 */
static __always_inline long write_length(struct __sk_buff *skb, const struct packet *p, __u32 old,
					 __u32 len)
{
	__be16 field =
	    bpf_htons(p->ipv6 ? len + p->l4 - p->l3 - sizeof(struct ipv6hdr) : len + p->l4 - p->l3);
	long err = p->ipv6 ? bpf_skb_store_bytes(skb, p->l3 + IPV6_OFF_LEN, &field, 2, 0)
			   : write_ipv4_length(skb, p, field);

	return err
		   ?: bpf_l4_csum_replace(skb, p->l4 + TCP_OFF_CSUM, bpf_htonl(old), bpf_htonl(len),
					  BPF_F_PSEUDO_HDR | 4);
}

/* The sequence number alone; the checksum is seen to by the caller. */
static __always_inline long write_seq(struct __sk_buff *skb, const struct packet *p, __u32 seq)
{
	__be32 wire = bpf_htonl(seq);

	return bpf_skb_store_bytes(skb, p->l4 + TCP_OFF_SEQ, &wire, sizeof(wire), 0);
}

/* What that adds to the checksum. */
static __always_inline __u64 csum_of_seq(const struct packet *p, __u32 seq)
{
	return (__u64)(__u32)~bpf_htonl(p->seq) + bpf_htonl(seq);
}

/* Clear flags in the TCP header. */
static __always_inline long write_clear_flags(struct __sk_buff *skb, const struct packet *p,
					      __u8 clear)
{
	__u8 old[2], new[2];
	long err;

	err = bpf_skb_load_bytes(skb, p->l4 + TCP_OFF_FLAGS - 1, old, 2);
	if (err)
		return err;
	new[0] = old[0];
	new[1] = old[1] & ~clear;
	err = bpf_l4_csum_replace(skb, p->l4 + TCP_OFF_CSUM, *(__u16 *)old, *(__u16 *)new, 2);
	return err ?: bpf_skb_store_bytes(skb, p->l4 + TCP_OFF_FLAGS, &new[1], 1, 0);
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
