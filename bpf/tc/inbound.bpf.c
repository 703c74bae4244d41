// SPDX-License-Identifier: GPL-2.0-only
/*
 * TC ingress: the way of a packet in, top to bottom.
 *
 *   10-packet     classify: is it TCP or an ICMP error
 *   15-quiet      is enough known of its flow, without a look at it: that it is left alone
 *   in-05-settled or that the packet is an acknowledgement that changes as the last one has
 *   20-flow       the flow whose bytes it acknowledges
 *   25-twin       if it is not that of another connection with the same ports
 *   26-open       or a new one: the peer answers our SYN
 *   in-10-ack     acknowledgement, SACK blocks and window, from wire numbers to app numbers
 *   in-20-answer  the few answers that have to be looked at
 *   in-22-http2   the SETTINGS of servers of HTTP/2
 *   in-25-calling and those to calls that are recorded
 *   in-30-icmp    errors that quote our packets
 *   in-40-request the requests to a local server, and the contexts that they bring
 *   in-45-streams the same of HTTP/2, each on its stream
 *   in-50-serve   which connections of local servers are read
 */
#include "25-twin.bpf.h"
#include "in-05-settled.bpf.h"
#include "in-20-answer.bpf.h"
#include "in-22-http2.bpf.h"
#include "in-25-calling.bpf.h"
#include "in-30-icmp.bpf.h"
#include "in-50-serve.bpf.h"

char _license[] SEC("license") = "GPL";

/*
 * A packet for a closed flow: the peer has missed our last acknowledgement and sends its FIN again,
 * or data before it. Its numbers are translated, since our side takes those of its RST from it.
 * Returns the verdict.
 */
static __always_inline int inbound_late(struct __sk_buff *skb, const struct packet *p, __u32 offset)
{
	struct ack a = {.app = p->ack - offset, .offset = offset};
	struct flow *f = flow_begin();

	if (!f)
		return NEXT;
	f->edits.retired = offset; /* all that is left of it */
	count(REASON_LINGER);
	return ack_write(skb, p, f, &a);
}

/* Is there a socket here that has sent the SYN? */
static __always_inline int syn_is_local(struct __sk_buff *skb, const struct packet *p)
{
	struct scratch *s = scratch_get();
	struct bpf_sock *sk = s ? request_socket(skb, p, s) : NULL;
	struct bpf_tcp_sock *tp;
	int ours = 0;

	if (!sk)
		return 0;
	tp = sk->state == BPF_TCP_SYN_SENT ? bpf_tcp_sock(sk) : NULL;
	if (tp) /* the kernel sets snd_nxt when the SYN has left: the answer may have come by then
		 */
		ours = tp->snd_una + 1 == p->ack || tp->snd_nxt == p->ack;
	bpf_sk_release(sk);
	return ours;
}

/*
 * A SYN-ACK: does it answer a SYN that has left here? Few SYNs are remembered (24-twice); if this
 * one is not, a local socket can tell. `old`: the tuple's flow so far, or NULL.
 */
VERIFIED_ALONE int inbound_syn_ack(struct __sk_buff *skb, const struct packet *p, struct flow *old)
{
	struct flow_key key;
	__u32 known;

	if (!p || !csum_intact(skb, p))
		return 0;
	key = p->key; /* before 6.4 a map's key must be on the stack */
	known = syn_known(&key, p->ack - 1);
	if (!known && !syn_is_local(skb, p)) {
		count(REASON_UNASKED);
		return 0;
	}
	if (old && twin_begins(&key, old, SYN_WAY(known)))
		return 0;
	if (old) /* before 6.4 only what was looked up here can be stored in a map */
		old = old->flags & FLOW_PAST ? flow_former(&key) : flow_lookup(&key);
	flow_open(skb, p, &key, known, old);
	return 0;
}

/*
 * A SYN of the peer, which may be forged. It changes nothing of a flow that is known, unless it
 * answers another SYN than the flow's. Returns whether it passes as it is.
 */
static __always_inline int inbound_syn(struct __sk_buff *skb, const struct packet *p,
				       struct flow *f)
{
	int answers = p->flags & TCP_ACK;

	if (f && (f->flags & FLOW_SERVER))
		return 0;
	if (!f || (answers && (!(f->flags & FLOW_WSCALE) || p->ack != f->isn + 1))) {
		if (answers)
			inbound_syn_ack(skb, p, f);
	} else if (answers) {
		flow_opens_again(skb, p, f);
		return 0;
	}
	return 1;
}

/* A packet for a flow that is not in the table. */
static __always_inline int inbound_stranger(struct __sk_buff *skb, const struct packet *p)
{
	__u32 offset;

	if ((p->flags & TCP_ACK) && flow_may_linger(&p->key)) {
		offset = flow_lingering(p, LINGERING_ANY);
		if (offset)
			return inbound_late(skb, p, offset);
	}
	if (p->len && serve_may_begin(skb, p) && serve_stranger(skb, p))
		serve_first(skb, p);
	return NEXT;
}

/*
 * A RST counts where TCP accepts it (RFC 5961, 3.2): exactly at the next byte that is expected,
 * which may be behind bytes that our side has not acknowledged yet. Any other is ignored, since a
 * live connection breaks when its flow is forgotten.
 */
static __always_inline int inbound_reset(const struct packet *p, const struct flow *f)
{
	return p->seq == f->peer_next || (!(f->flags & FLOW_FIN_IN) && p->seq == f->peer_end);
}

/*
 * Where the peer's bytes end: as far as they came in order, or at its FIN, which may overtake them.
 * Of several FINs the lowest number counts, and none if the peer sends more behind it.
 */
static __always_inline void inbound_note_end(const struct packet *p, struct flow *f,
					     const struct ack *a)
{
	__u32 end = p->seq + p->len;

	if ((f->flags & FLOW_FIN_IN) && a->believed && p->len && seq_before(f->peer_end, end))
		f->flags &= ~FLOW_FIN_IN;
	if ((p->flags & TCP_FIN) && a->believed && !seq_before(end, f->peer_next)) {
		if (!(f->flags & FLOW_FIN_IN) || seq_before(end, f->peer_end))
			f->peer_end = end;
		f->flags |= FLOW_FIN_IN;
	} else if (p->len && !(f->flags & FLOW_FIN_IN) &&
		   (p->seq == f->peer_end || p->seq == f->peer_next)) {
		f->peer_end = end;
	}
}

/* What later packets need to know about this one. */
static __always_inline void inbound_note(struct __sk_buff *skb, const struct packet *p,
					 struct flow *f, const struct ack *a)
{
	if (p->flags & TCP_RST) {
		if (inbound_reset(p, f)) {
			calling_packet(skb, p, f);
			flow_reset(&p->key, f);
		}
		return;
	}
	if (p->flags & TCP_SYN)
		return;
	calling_packet(skb, p, f);
	f->flags |= FLOW_PEER_SEEN;
	ack_note(p, f, a);
	if (p->len && !(f->flags & FLOW_OPAQUE))
		answer_data(skb, p, f);
	if (p->len && (f->flags & FLOW_HTTP2) && csum_intact(skb, p))
		http2_settings(skb, (struct packet *)p, f);
	inbound_note_end(p, f, a);
	if (flow_finished(f))
		flow_rest(&p->key, f, 0);
}

/*
 * Would a damaged packet do lasting harm here? It could retire an edit too early, close a live
 * flow, or be read as an answer.
 */
static __always_inline int inbound_matters(const struct packet *p, const struct flow *f)
{
	return edits_count(&f->edits) || (p->flags & (TCP_FIN | TCP_RST)) ||
	       (f->flags & (FLOW_AWAIT | FLOW_LEARN));
}

static __always_inline int inbound_tcp(struct __sk_buff *skb, struct scratch *s, struct packet *p)
{
	struct flow *f;
	struct quiet *known = quiet_find(s, &p->key);
	int verdict = NEXT;
	struct ack a;

	if (quiet_untouched(known) && !(p->flags & (TCP_SYN | TCP_FIN | TCP_RST)))
		return NEXT;
	if (known && settled_fits(skb, p, known))
		return settled_write(skb, p, &known->settled);
	f = twin_lookup(p);
	if ((p->flags & TCP_SYN) && inbound_syn(skb, p, f))
		return NEXT;
	if (!f)
		return inbound_stranger(skb, p);
	if (flow_untouched(f)) {
		flow_pass_untouched(s, &p->key, f, p->flags, FLOW_FIN_IN);
		return NEXT;
	}
	if (f->flags & FLOW_SERVER)
		return serve(skb, p, f);
	if (twin_sent(skb, p, f, f->way_in))
		return NEXT;
	if (inbound_matters(p, f) && !csum_intact(skb, p))
		return NEXT;
	ack_translate(p, f, &a);
	if (a.offset)
		verdict = ack_write(skb, p, f, &a);
	inbound_note(skb, p, f, &a);
	if (verdict == NEXT && settled_may_begin(p, f, &a))
		settled_begin(p);
	return verdict;
}

static __always_inline int inbound(struct __sk_buff *skb, int ethernet)
{
	struct scratch *s = scratch_get();
	struct packet p = {};
	int kind = packet_parse(skb, ethernet, SIDE_IN, &p);

	if (!s || kind < 0 || packet_marked(skb, SIDE_IN))
		return NEXT;
	s->now_ns = 0;
	return kind ? icmp_packet(skb, &p) : inbound_tcp(skb, s, &p);
}

/* Devices with an Ethernet header; loopback has one too. */
SEC("tc")
int ctxprop_in_eth(struct __sk_buff *skb)
{
	return inbound(skb, 1);
}

/* Devices whose packets begin with the IP header: tun, wireguard. */
SEC("tc")
int ctxprop_in_ip(struct __sk_buff *skb)
{
	return inbound(skb, 0);
}
