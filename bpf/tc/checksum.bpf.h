/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of bytes (RFC 1071), and whether a packet's own is right.
 */
#ifndef CTXPROP_TC_CHECKSUM_BPF_H
#define CTXPROP_TC_CHECKSUM_BPF_H

#include "10-packet.bpf.h"

/* Fold a sum of any length to 16 bits (RFC 1071). */
static __always_inline __u32 csum_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Ones' complement sum of scratch.wire[from..to), unfolded; from and to are even. */
static __always_inline __u64 csum_wire(struct scratch *s, __u32 from, __u32 to)
{
	__u64 sum = 0;

	/* bpf_csum_diff() takes multiples of four, at most 512 bytes before 6.12. */
	for (int i = 0; i < WIRE_MAX / 512; i++) {
		__u32 n = to - from;

		if (n > 512)
			n = 512;
		n &= ~3u;
		if (!index_within(&from, WIRE_SIZE) || !size_within(&n, 512))
			break;
		sum += (__u32)bpf_csum_diff(NULL, 0, (__be32 *)(s->wire + from), n, 0);
		from += n;
	}
	if (to - from == 2 && index_within(&from, WIRE_SIZE))
		sum += *(volatile __u16 *)(s->wire + from);
	return sum;
}

/* Sum of the pseudo header's addresses, protocol and length (RFC 9293, 3.1; RFC 8200, 8.1). */
static __always_inline __u64 csum_pseudo(const struct packet *p, __u32 len)
{
	const __u32 *src = (const __u32 *)p->key.src, *dst = (const __u32 *)p->key.dst;
	__u64 sum = (__u64)bpf_htonl(len) + bpf_htonl(IPPROTO_TCP) + src[3] + dst[3];

	if (p->ipv6)
		sum += (__u64)src[0] + src[1] + src[2] + dst[0] + dst[1] + dst[2];
	return sum;
}

/* The sum of `len` bytes of a packet at `off`, by way of scratch.wire; 0 if there are too many. */
static __always_inline __u64 csum_packet(struct __sk_buff *skb, struct scratch *s, __u32 off,
					 __u32 len)
{
	__u32 n = len, end = len;

	if (!size_within(&n, WIRE_MAX) || bpf_skb_load_bytes(skb, off, s->wire, n))
		return 0;
	if (index_within(&end, WIRE_SIZE))
		s->wire[end] = 0;
	return csum_wire(s, 0, (len + 1) & ~1u);
}

/* csum_intact() where the kernel does not say; not for packets of GSO. */
VERIFIED_ALONE int csum_intact_by_sum(struct __sk_buff *skb, const struct packet *p)
{
	struct scratch *s = scratch_get();
	__u64 pseudo;
	__u32 len;

	if (!s || !p)
		return 1;
	len = packet_tcp_header(p) + p->len;
	pseudo = csum_pseudo(p, len);
	if (p->csum == csum_fold(pseudo) || bpf_csum_level(skb, BPF_CSUM_LEVEL_QUERY) >= 0)
		return 1;
	if (len > WIRE_MAX || csum_fold(pseudo + csum_packet(skb, s, p->l4, len)) == 0xffff)
		return 1;
	count(REASON_BAD_CHECKSUM);
	return 0;
}

/*
 * Is the TCP checksum right? The receiver drops a packet whose checksum is wrong, so nothing may be
 * learned from it, and no lead made of it. Most packets need no sum: GRO or a device has verified
 * them, or they are CHECKSUM_PARTIAL (the field is the sum of the pseudo header then). The checksum
 * of a fragment cannot be verified; it is taken for right.
 */
static __always_inline int csum_intact(struct __sk_buff *skb, const struct packet *p)
{
	int kind = packet_csum(skb);

	return kind == PACKET_CSUM_PARTIAL || kind == PACKET_CSUM_VERIFIED || skb->gso_size ||
	       p->fragment || csum_intact_by_sum(skb, p);
}

#endif
