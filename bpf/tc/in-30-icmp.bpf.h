/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, 3: ICMP errors quote the header of the packet they are about, in wire numbers. TCP
 * believes an error only if the quoted number lies in its window: without translation path MTU
 * discovery dies (RFC 1191, RFC 8201).
 */
#ifndef CTXPROP_TC_IN_ICMP_BPF_H
#define CTXPROP_TC_IN_ICMP_BPF_H

#include "25-twin.bpf.h"
#include "60-write.bpf.h"

/* RFC 792, RFC 4443. The system's headers for these draw in the C library. */
enum icmp_type {
	ICMP_DEST_UNREACH = 3,
	ICMP_SOURCE_QUENCH = 4,
	ICMP_TIME_EXCEEDED = 11,
	ICMP_PARAMETERPROB = 12,
	ICMPV6_PKT_TOOBIG = 2,
};
#define ICMP_FRAG_NEEDED 4   /* code of ICMP_DEST_UNREACH */
#define ICMPV6_INFO      128 /* below: errors */

#define ICMP_HEADER   8
#define ICMP_OFF_CSUM 2
/* Of the quoted TCP header only this much is sure to be there: ports and sequence number. */
#define ICMP_QUOTE 8

/* Is it an error that quotes a packet? */
static __always_inline int icmp_quotes(const struct packet *p, __u8 type)
{
	if (p->proto == IPPROTO_ICMPV6)
		return type < ICMPV6_INFO;
	return type == ICMP_DEST_UNREACH || type == ICMP_TIME_EXCEEDED ||
	       type == ICMP_PARAMETERPROB || type == ICMP_SOURCE_QUENCH;
}

static __always_inline int icmp_quote_ipv4(struct __sk_buff *skb, struct packet *q)
{
	struct iphdr *ip = packet_at(skb, q->l3, sizeof(*ip));

	if (!ip || ip->version != 4 || ip->ihl < 5 || ip->protocol != IPPROTO_TCP)
		return -1;
	q->l4 = q->l3 + ip->ihl * 4;
	packet_map_ipv4(q->key.src, ip->saddr);
	packet_map_ipv4(q->key.dst, ip->daddr);
	return 0;
}

static __always_inline int icmp_quote_ipv6(struct __sk_buff *skb, struct packet *q)
{
	struct ipv6hdr *ip = packet_at(skb, q->l3, sizeof(*ip));

	if (!ip || ip->version != 6 || ip->nexthdr != IPPROTO_TCP)
		return -1;
	q->l4 = q->l3 + sizeof(*ip);
	__builtin_memcpy(q->key.src, &ip->saddr, 16);
	__builtin_memcpy(q->key.dst, &ip->daddr, 16);
	return 0;
}

/* Parse the quoted packet: its key (as it left us) and sequence number. Returns 0 or -1. */
static __always_inline int icmp_quote(struct __sk_buff *skb, const struct packet *p,
				      struct packet *q)
{
	struct tcphdr *tcp;

	q->l3 = p->l4 + ICMP_HEADER;
	if (p->proto == IPPROTO_ICMP ? icmp_quote_ipv4(skb, q) : icmp_quote_ipv6(skb, q))
		return -1;
	tcp = packet_at(skb, q->l4, ICMP_QUOTE);
	if (!tcp)
		return -1;
	q->key.sport = tcp->source;
	q->key.dport = tcp->dest;
	q->key.netns = packet_netns(skb);
	q->seq = bpf_ntohl(tcp->seq);
	return 0;
}

/* The path takes less than was thought: packets are not grown beyond it any more. */
static __always_inline void icmp_path_mtu(const struct packet *p, const __u8 *icmp, struct flow *f)
{
	__u32 headers = p->ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr), mtu;

	if (p->ipv6 ? icmp[0] != ICMPV6_PKT_TOOBIG
		    : icmp[0] != ICMP_DEST_UNREACH || icmp[1] != ICMP_FRAG_NEEDED)
		return;
	mtu = p->ipv6 ? (__u32)icmp[4] << 24 | icmp[5] << 16 | icmp[6] << 8 | icmp[7]
		      : (__u32)icmp[6] << 8 | icmp[7];
	headers += sizeof(struct tcphdr);
	if (mtu > headers && mtu < 65536 && (!f->mss || mtu - headers < f->mss))
		f->mss = mtu - headers;
}

/* Translate the quoted number. Returns the verdict. */
VERIFIED_ALONE int icmp_packet(struct __sk_buff *skb, const struct packet *p)
{
	struct packet q = {.side = SIDE_OUT};
	struct flow *f;
	__u8 icmp[ICMP_HEADER];
	__be32 old, new;

	if (!p)
		return NEXT;
	if (bpf_skb_load_bytes(skb, p->l4, icmp, sizeof(icmp)) || !icmp_quotes(p, icmp[0]))
		return NEXT;
	if (icmp_quote(skb, p, &q))
		return NEXT;
	f = flow_lookup(&q.key);
	if (!f || !flow_has_edits(f) || !twin_fits_wire(q.seq, f))
		return NEXT;
	icmp_path_mtu(p, icmp, f);
	if (!flow_has_offset(f))
		return NEXT;
	new = bpf_htonl(edits_to_app(&f->edits, q.seq));
	old = bpf_htonl(q.seq);
	if (old == new)
		return NEXT;
	count(REASON_ICMP);
	packet_mark(skb, SIDE_IN);
	if (write_quoted(skb, p->l4 + ICMP_OFF_CSUM, q.l4 + TCP_OFF_SEQ, old, new)) {
		count(REASON_DROPPED);
		return DROP;
	}
	return NEXT;
}

#endif
