/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Still stage 2: the options of a TCP header, and which of them decide what may be done to a flow.
 */
#ifndef CTXPROP_TC_OPTIONS_BPF_H
#define CTXPROP_TC_OPTIONS_BPF_H

#include "21-room.bpf.h"

/* Options of the SYN-ACK that decide what may be done to the flow. */
enum tcp_option {
	TCPOPT_END = 0,
	TCPOPT_NOP = 1,
	TCPOPT_MSS = 2,
	TCPOPT_WSCALE = 3,
	TCPOPT_SACK = 5,
	TCPOPT_MD5 = 19,
	TCPOPT_AO = 29,
	TCPOPT_MPTCP = 30,
};

struct tcp_options {
	__u16 mss;
	__u8 wscale;
	__u8 sack;      /* offset of the SACK option among the options */
	__u8 sack_size; /* its size, 0: there is none */
	__u32 refuse;   /* the reason why the flow must stay as it is; 0: none */
};

/* The walk over the options in scratch.header. */
struct options_walk {
	const __u8 *option;
	__u32 at, len;
	struct tcp_options *found;
};

#define TCP_OPTIONS_MAX 40

static __always_inline void tcp_option_note(struct options_walk *w, __u32 at, __u32 kind,
					    __u32 size)
{
	switch (kind) {
	case TCPOPT_MSS:
		w->found->mss = w->option[at + 2] << 8 | w->option[at + 3];
		break;
	case TCPOPT_WSCALE:
		w->found->wscale = w->option[at + 2];
		break;
	case TCPOPT_SACK:
		w->found->sack = at;
		w->found->sack_size = size;
		break;
	case TCPOPT_MD5:
	case TCPOPT_AO:
		w->found->refuse = REASON_TCP_SIGNED;
		break;
	case TCPOPT_MPTCP:
		w->found->refuse = REASON_MPTCP;
		break;
	}
}

/* One option, as a callback of bpf_loop(). An option that does not fit ends the walk. */
static long tcp_option_step(__u32 i, struct options_walk *w)
{
	(void)i;
	__u32 at = w->at, kind, size;

	if (at >= w->len || at >= TCP_OPTIONS_MAX)
		return 1;
	kind = w->option[at];
	if (kind == TCPOPT_END)
		return 1;
	size = kind == TCPOPT_NOP ? 1 : w->option[at + 1];
	if (size == 0 || at + size > w->len || (size < 2 && kind != TCPOPT_NOP))
		return 1;
	tcp_option_note(w, at, kind, size);
	w->at = at + size;
	return 0;
}

/* Copy the options of a segment into scratch.header and read them. Returns their length. */
VERIFIED_ALONE int tcp_options_read(struct __sk_buff *skb, const struct packet *p,
				    struct tcp_options *o)
{
	struct scratch *s = scratch_get();
	struct options_walk w = {.found = o};
	__u32 len;

	if (!s || !p || !o)
		return 0;
	w.len = len = packet_tcp_header(p) - sizeof(struct tcphdr);
	if (!size_within(&len, TCP_OPTIONS_MAX))
		return 0;
	if (bpf_skb_load_bytes(skb, p->l4 + sizeof(struct tcphdr), s->header, len))
		return 0;
	w.option = s->header;
	bpf_loop(TCP_OPTIONS_MAX, tcp_option_step, &w, 0);
	return len;
}

/* RFC 7323, 2.3: a larger shift is taken as 14, so that no window is larger than that. */
#define TCP_WSCALE_MAX  14
#define TCP_WINDOW_MAX  (1u << 30)
#define TCP_WSCALE_MASK 15 /* says to the verifier that no shift is out of range */

#endif
