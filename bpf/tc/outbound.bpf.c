// SPDX-License-Identifier: GPL-2.0-only
/*
 * TC egress: the way of a packet out, top to bottom.
 *
 *   00-scratch   counters, the kill switch, one working area per CPU
 *   10-packet    classify: is it TCP, and where do its parts lie
 *   15-quiet     is it known to be left alone
 *   19-share     who a flow with an offset counts for, and what is left for others
 *   20-flow      the flow it belongs to
 *   21-room      which one makes room for a new one
 *   22-options   what the options of its SYN allow
 *   24-twice     a connection that comes by a second time is left alone
 *   25-twin      and so is one that has the same ports as another one
 *   26-open      how the flow of a connection begins that our side opens
 *   30-frame     read its new bytes, as their protocol (http/protocol.h) has it
 *   31-http2     and those of HTTP/2
 *   35-policy    what the rules say about a request
 *   38-cause     why it is sent
 *   39-stream    the same of HTTP/2
 *   40-decide    a request ends its head here: does it get a header, and where
 *   41-change    or are its trace fields to be changed
 *   43-http2     the same of HTTP/2
 *   42-read      all events of a payload, one after the other
 *   45-respond   or its way ends here: a response of a local server, which is only read
 *   46-streams   the same of HTTP/2
 *   50-plan      which edits the packet carries, and its bytes on the wire
 *   60-write     the helpers that change packets
 *   70-lead      the small packet that goes ahead of one that cannot grow
 *   75-change    bytes that are changed in place
 *   80-edit      grow, split or only renumber
 *   85-fields    and the same of HTTP/2, from its plan on
 *
 * Beside the way: attended (several namespaces), carry (tracestates that go with edits), checksum
 * (sums, and whether a packet's own is right), random (ids), record (what spans are made of),
 * serving and streams (connections of local servers, of HTTP/1 and HTTP/2), ended (the end of their
 * requests); entry is what a device's hooks run, and hands on to this
 * or to inbound.
 */
#define COMPAT_SECOND_OBJECT
#include "25-twin.bpf.h"
#include "42-read.bpf.h"
#include "45-respond.bpf.h"
#include "85-fields.bpf.h"

char _license[] SEC("license") = "GPL";

/* Shorter payloads cannot hold a whole request head: "GET / HTTP/1.0" and two line ends. */
#define HEAD_MIN 16

/* The connection was open before it was met: what does this payload begin with? */
static __always_inline enum frame_start learn_start(struct __sk_buff *skb, const struct packet *p)
{
	__u8 first;

	if (p->len < HEAD_MIN || (p->flags & (TCP_SYN | TCP_URG)) || p->fragment || p->ip_options)
		return START_OTHER;
	if (bpf_skb_load_bytes(skb, p->payload, &first, 1))
		return START_OTHER;
	return protocol_may_begin(first) ? frame_look_ahead(skb, p) : START_OTHER;
}

/*
 * Joining takes two requests. This may be the first: note where its answer has to begin. Only a
 * whole request will do, since what follows half of one could be its body.
 */
static __always_inline void learn_candidate(struct flow *f, const struct packet *p,
					    enum frame_start start)
{
	f->flags &= ~(FLOW_CANDIDATE | FLOW_ANSWERED);
	if (start == START_MESSAGE)
		f->flags |= FLOW_CANDIDATE;
	f->answer_at = p->ack;
}

static __always_inline void learn_count(__u32 reason)
{
	count(control_paused() ? REASON_PAUSED : reason);
}

/*
 * A flow that waits for a place to join: a segment that starts exactly at the peer's last
 * acknowledgement, after data of the peer, with a whole request head; and the request before it
 * was answered by a status line. Returns 1 when it is joined with this packet.
 */
static __always_inline int learn(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	const __u32 proof = FLOW_CANDIDATE | FLOW_ANSWERED | FLOW_PEER_LAST | FLOW_PEER_SEEN;
	enum frame_start start = learn_start(skb, p);

	/* A retransmission of the request that was answered. */
	if ((f->flags & FLOW_ANSWERED) && !seq_before(f->peer_ack, p->seq + p->len))
		return 0;
	if (start == START_OTHER) {
		f->flags &= ~(FLOW_CANDIDATE | FLOW_ANSWERED);
		return 0;
	}
	if ((f->flags & proof) != proof || p->seq != f->peer_ack) {
		learn_candidate(f, p, start);
		learn_count(f->flags & FLOW_PEER_SEEN ? REASON_JOINING : REASON_ONE_WAY);
		return 0;
	}
	f->flags &= ~(FLOW_LEARN | FLOW_CANDIDATE | FLOW_ANSWERED);
	/* `sent` stays: bytes that were sent before, even beyond this packet, get no header. */
	f->next = p->seq;
	protocol_begin(&f->protocol, PROTOCOL_REQUEST);
	f->id = (struct request_id){};
	count(REASON_JOINED);
	return 1;
}

/* Is the packet from a TCP socket of this namespace? Nobody else can send it in its name. */
static __always_inline int outbound_is_own(struct __sk_buff *skb)
{
	struct sock_common *socket = packet_socket(skb);

	return socket && packet_is_own(skb, socket);
}

/*
 * A SYN leaves, and there is a flow of its tuple already. If a socket of ours sends it, a flow of
 * ours is over for certain. Any other SYN proves nothing: the flow is kept until the peer has
 * answered the new number (flow_open()).
 */
static __always_inline void outbound_open(struct __sk_buff *skb, const struct packet *p,
					  const struct flow_key *key, struct flow *f)
{
	if (!f)
		return;
	if (!flow_has_edits(f))
		serving_delete(key, f);
	else if (f->isn == p->seq && (f->flags & FLOW_WSCALE))
		return; /* the SYN again */
	else if ((f->flags & FLOW_LOCAL) && !(f->flags & FLOW_FORMER) && outbound_is_own(skb))
		flow_forget(key, f);
	else
		twin_suspect(key, f);
}

/*
 * A SYN-ACK leaves, and our side has opened a flow of its tuple before. That flow is over, or both
 * sides are opening at once (RFC 9293, 3.5). Flows without an offset need no care.
 */
static __always_inline void outbound_syn_ack(const struct packet *p, const struct flow_key *key,
					     struct flow *f)
{
	/* Of flows that were met in the middle the first number is not known. */
	if (!f || !flow_has_edits(f) || !(f->flags & FLOW_WSCALE) || f->isn == p->seq)
		return;
	twin_suspect(key, f);
}

VERIFIED_ALONE int outbound_syn(struct __sk_buff *skb, const struct packet *p)
{
	struct flow_key key;
	struct flow *f;

	if (!p)
		return 0;
	key = p->key; /* before 6.4 a map's key must be on the stack */
	lingering_end(&key, outbound_is_own(skb));
	f = flow_lookup(&key);
	if (p->flags & TCP_ACK) {
		outbound_syn_ack(p, &key, f);
		return 0;
	}
	syn_met(skb, p);
	outbound_open(skb, p, &key, f);
	return 0;
}

/*
 * A packet with payload of a flow that was closed by a RST: it lives. It waits for a place to join,
 * and is translated. Returns the verdict.
 */
static __always_inline int outbound_wake(struct __sk_buff *skb, const struct packet *p,
					 const struct flow_key *key, __u32 offset)
{
	struct flow *f = flow_begin();
	enum frame_start start;

	if (!f)
		return NEXT;
	f->edits.retired = offset; /* all that is left of it */
	f->next = f->sent = p->seq + p->len;
	f->peer_ack = p->seq;
	f->peer_next = f->peer_end = p->ack;
	f->flags = FLOW_LEARN;
	f->way_out = p->way;
	flow_note_origin(skb, f);
	start = learn_start(skb, p);
	if (start != START_OTHER)
		learn_candidate(f, p, start);
	if (flow_publish(key, f))
		bpf_map_delete_elem(&lingers, key);
	if (start != START_OTHER)
		learn_count(REASON_JOINING);
	count(REASON_LINGER);
	return edit_number(skb, p, p->seq + offset);
}

/*
 * The offset of the closed flow that a packet belongs to; 0: none. A packet of a live socket can
 * only belong to a flow that a forged RST has closed.
 */
static __always_inline __u32 outbound_lingering(struct __sk_buff *skb, const struct packet *p)
{
	struct bpf_sock *sk = skb->sk;
	int lives = p->len || (sk && sk->state == BPF_TCP_ESTABLISHED);

	return flow_lingering(p, lives ? LINGERING_RESET : LINGERING_ANY);
}

/* A packet of no known flow: of a passive side, of a closed flow, or met in the middle. */
VERIFIED_ALONE int outbound_stranger(struct __sk_buff *skb, struct packet *p)
{
	struct tcp_options o = {};
	struct flow *f;
	enum frame_start start;
	struct flow_key key;
	__u32 offset;

	if (!p)
		return NEXT;
	key = p->key; /* before 6.4 a map's key must be on the stack */
	offset = p->len && !flow_may_wake(&key) ? 0 : outbound_lingering(skb, p);
	if (offset && p->len && !(p->flags & TCP_RST))
		return outbound_wake(skb, p, &key, offset);
	if (offset) {
		count(REASON_LINGER);
		return edit_number(skb, p, p->seq + offset);
	}
	if (!p->len)
		return NEXT;
	start = learn_start(skb, p);
	if (start == START_OTHER)
		return NEXT;
	tcp_options_read(skb, p, &o);
	if (o.refuse)
		return NEXT;
	f = flow_begin();
	if (!f)
		return NEXT;
	f->next = f->sent = p->seq + p->len;
	f->peer_ack = p->seq;
	f->peer_next = f->peer_end = p->ack;
	f->flags = FLOW_LEARN;
	f->way_out = p->way;
	flow_note_origin(skb, f);
	learn_candidate(f, p, start);
	if (!(f->flags & FLOW_LOCAL))
		flow_limit_strangers(&key);
	if (flow_publish(&key, f))
		learn_count(REASON_JOINING);
	packet_met(skb, SIDE_OUT);
	return NEXT;
}

/* What the peer takes may lie so far behind its last acknowledgement. */
static __always_inline __u32 outbound_window(const struct flow *f)
{
	return (f->flags & FLOW_WSCALE ? f->window : TCP_WINDOW_MAX) + 1;
}

/*
 * A RST of our side ends the flow only where the peer can accept it (RFC 5961, 3.2): exactly at the
 * byte that it expects, which is neither before what it has acknowledged, nor behind what was sent,
 * nor outside its window. (Or at our FIN though that was acknowledged, as some stacks do.) Any
 * other may be forged by a host behind this gateway, and the connection lives. If it is genuine all
 * the same, the peer answers with a challenge ACK, and gets another RST at the number it named.
 */
static __always_inline void outbound_reset(struct __sk_buff *skb, const struct packet *p,
					   struct flow *f)
{
	__u32 fin = !!(f->flags & FLOW_FIN_OUT), from = f->peer_ack - fin;

	if (p->seq - from > outbound_window(f) || seq_before(f->sent + fin, p->seq))
		return;
	record_cut_calls(f, RECORD_GIVEN_UP);
	if ((f->flags & FLOW_LOCAL) && outbound_is_own(skb))
		flow_forget(&p->key, f);
	else
		flow_reset(&p->key, f);
}

/* Can the peer accept this FIN, and was nothing sent behind it? If not, it may be forged. */
static __always_inline int outbound_fin_fits(const struct packet *p, const struct flow *f)
{
	__u32 end = p->seq + p->len;

	return end - f->peer_ack <= outbound_window(f) && !seq_before(end, f->sent) &&
	       flow_near(p->ack, f->peer_next, FLOW_NEAR);
}

/* Of several FINs the lowest number counts: nothing is sent behind a genuine one. */
static __always_inline void outbound_fin(const struct packet *p, struct flow *f)
{
	__u32 end = p->seq + p->len;

	if ((f->flags & FLOW_FIN_OUT) && seq_before(f->fin_out, end) &&
	    !seq_before(f->fin_out, f->sent))
		return;
	f->flags |= FLOW_FIN_OUT;
	f->fin_out = end;
	flow_unsettle(&p->key, f);
}

#define RCV_SHUTDOWN 1 /* of sk_shutdown: nobody reads any more */

/*
 * A FIN leaves while calls are open: if the program has closed its socket, it has given them up. If
 * it has only shut down its sending side, it may still wait for answers.
 */
VERIFIED_ALONE int outbound_gives_up(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct sock_common *socket;

	if (!p || !f || !outbound_fin_fits(p, f) || !calling_open_count(&f->calling))
		return 0;
	socket = packet_socket(skb);
	if (socket && (((struct sock *)socket)->sk_shutdown & RCV_SHUTDOWN) &&
	    packet_is_own(skb, socket))
		record_cut_calls(f, RECORD_GIVEN_UP);
	return 0;
}

/* What later packets need to know about this one. */
static __always_inline void outbound_note(const struct packet *p, struct flow *f)
{
	__u32 end = p->seq + p->len;

	if ((p->flags & TCP_FIN) && !outbound_fin_fits(p, f))
		return;
	f->peer_next = p->ack;
	if (p->len && seq_before(f->sent, end)) {
		f->sent = end;
		/* Only a whole request, and only new bytes, count as the last word of our side. */
		if ((f->flags & FLOW_LEARN) || !protocol_in_head(&f->protocol))
			f->flags &= ~FLOW_PEER_LAST;
	}
	if (p->len)
		f->seen_ns = clock_coarse();
	if (p->flags & TCP_FIN)
		outbound_fin(p, f);
	if (flow_finished(f))
		flow_rest(&p->key, f, 0);
}

/*
 * A forwarded packet has a wrong checksum, so the receiver will drop it. It passes with translated
 * numbers; but one that would carry an edit is dropped here, since a lead (70-lead) made of its
 * bytes would get a right checksum.
 */
static __always_inline int outbound_damaged(struct __sk_buff *skb, const struct packet *p,
					    const struct flow *f)
{
	__u32 wire = edits_to_wire(&f->edits, p->seq),
	      end = edits_to_wire(&f->edits, p->seq + p->len);

	return end - wire == p->len ? edit_number(skb, p, wire) : DROP;
}

/* Nothing is decided yet about the packet at hand. */
static __always_inline void outbound_begin(struct decision *d, const struct packet *p,
					   const struct flow *f)
{
	d->room = d->path = ROOM_UNKNOWN;
	d->sent = f->sent;
	d->fresh = d->added = 0;
	d->changed = d->restarted = d->stripped = 0;
	d->resent = seq_before(p->seq, f->sent);
}

/* Payload of a flow that may carry requests: read what is new in it, and decide. */
static __always_inline void outbound_read(struct read_run *run)
{
	struct outbound *o = &run->o;
	struct flow *f = o->flow;

	outbound_begin(&o->s->decision, o->p, f);
	if (o->p->flags & TCP_URG)
		flow_make_opaque(f, REASON_URGENT);
	/* How many bytes follow in the other fragments, and which, is not known. */
	if (o->p->fragment)
		flow_make_opaque(f, REASON_FRAGMENT);
	if ((f->flags & FLOW_OPAQUE) || !flow_begin_framing(f))
		return;
	if (!(f->flags & FLOW_LEARN) || learn(o->skb, o->p, f))
		read_packet(run);
	flow_end_framing(f);
}

/*
 * Read a packet with payload, and change it to what it has to be on the wire. Both in one function,
 * since a further call costs as much as a helper. (Linux 6.1 counts stack frames in units of 32
 * bytes: the deepest calls from here take all 512.) Returns the verdict, or what is left to do.
 */
VERIFIED_ALONE int outbound_payload(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	struct read_run run;

	run.o = (struct outbound){.skb = skb, .p = p, .flow = f, .s = scratch_get()};
	if (!run.o.s || !p || !f)
		return NEXT;
	outbound_read(&run);
	if (f->flags & FLOW_LEARN)
		packet_met(skb, SIDE_OUT);
	flow_unsettle(&p->key, f);
	if (edits_changing(&f->edits) && change_packet(skb, p, f))
		return DROP;
	return flow_has_offset(f) ? edit_packet(&run.o) : NEXT;
}

/* The same of HTTP/2. */
VERIFIED_ALONE int outbound_http2(struct __sk_buff *skb, struct packet *p, struct flow *f,
				  struct http2_flow *h)
{
	struct scratch *s = scratch_get();

	if (!s || !p || !f)
		return NEXT;
	outbound_begin(&s->decision, p, f);
	if (p->flags & TCP_URG)
		flow_make_opaque(f, REASON_URGENT);
	if (p->fragment)
		flow_make_opaque(f, REASON_FRAGMENT);
	if (!use_http2) /* it began under a daemon that had --http2 */
		flow_make_opaque(f, REASON_HTTP2);
	else if (!h)
		flow_make_opaque(f, REASON_LOST);
	else if (!(f->flags & FLOW_OPAQUE) && flow_begin_framing(f)) {
		http2_read(skb, s, p, f, h);
		flow_end_framing(f);
	}
	flow_unsettle(&p->key, f);
	return fields_plan(p, f, h);
}

/* What is known of a flow that speaks HTTP/2, or NULL. */
static __always_inline struct http2_flow *outbound_http2_flow(struct packet *p, struct flow *f)
{
	struct flow_key *key = &p->key;

	barrier_var(key); /* else the compiler keeps its address on the stack from early on */
	return http2_lookup(key, f);
}

static __always_inline int outbound_data(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	struct scratch *s;
	int verdict = f->flags & FLOW_HTTP2 ? NEXT : outbound_payload(skb, p, f);

	if (f->flags & FLOW_HTTP2) /* also if that has become clear just now */
		verdict = outbound_http2(skb, p, f, outbound_http2_flow(p, f));
	if (verdict == EDIT_FIELDS_OF) {
		verdict = fields_send(skb, p, f);
		return verdict == EDIT_SHIFT ? fields_shift(skb, p, f) : verdict;
	}
	if (verdict == EDIT_NUMBER) {
		s = scratch_get();
		return s ? edit_number(skb, p, s->plan.wire_seq) : DROP;
	}
	if (verdict == EDIT_AT_LENGTH)
		verdict = edit_at_length(skb, p, f);
	return verdict == EDIT_SHIFT ? edit_shift(skb, p, f) : verdict;
}

/* A packet without payload: its number only. */
static __always_inline int outbound_control(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	return edit_number(skb, p, edits_to_wire(&f->edits, p->seq));
}

static __always_inline int outbound_flow(struct __sk_buff *skb, struct scratch *s, struct packet *p)
{
	struct flow *f;
	int verdict;

	if (quiet_untouched(quiet_find(s, &p->key)) && !(p->flags & (TCP_FIN | TCP_RST)))
		return NEXT;
	f = twin_lookup(p);
	if (!f)
		return outbound_stranger(skb, p);
	if (flow_untouched(f)) {
		flow_pass_untouched(s, &p->key, f, p->flags, FLOW_FIN_OUT);
		return NEXT;
	}
	if (f->flags & FLOW_SERVER)
		return respond(skb, p, f);
	if (twin_sent(skb, p, f, f->way_out))
		return NEXT;
	flow_note_origin(skb, f);
	if (!skb->sk && (p->len || (p->flags & (TCP_FIN | TCP_RST))) && !csum_intact(skb, p))
		return outbound_damaged(skb, p, f);
	if (p->flags & TCP_RST) {
		/* The payload of a RST is an error message (RFC 9293, 3.5.3), not part of the
		 * stream. */
		verdict = outbound_control(skb, p, f);
		outbound_reset(skb, p, f);
		return verdict;
	}
	verdict = p->len || p->fragment ? outbound_data(skb, p, f) : outbound_control(skb, p, f);
	if (p->flags & TCP_FIN)
		outbound_gives_up(skb, p, f);
	outbound_note(p, f);
	return verdict;
}

static __always_inline int outbound(struct __sk_buff *skb, int ethernet)
{
	struct scratch *s = scratch_get();
	struct packet p = {};

	if (!s || packet_parse(skb, ethernet, SIDE_OUT, &p))
		return NEXT;
	if (lead_expected(skb, &s->lead))
		return lead_run(skb, &p);
	if (packet_marked(skb, SIDE_OUT))
		return NEXT;
	s->now_ns = 0;
	if (p.flags & TCP_SYN) {
		if (skb->sk || csum_intact(skb, &p))
			outbound_syn(skb, &p);
		return NEXT;
	}
	return outbound_flow(skb, s, &p);
}

/* Devices with an Ethernet header; loopback has one too. */
SEC("tc")
int ctxprop_out_eth(struct __sk_buff *skb)
{
	return outbound(skb, 1);
}

/* Devices whose packets begin with the IP header: tun, wireguard. */
SEC("tc")
int ctxprop_out_ip(struct __sk_buff *skb)
{
	return outbound(skb, 0);
}
