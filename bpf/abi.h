/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What the BPF programs and user space share: map keys, map values, versions.
 * Sequence numbers are in host byte order, addresses and ports in network byte order.
 */
#ifndef CTXPROP_ABI_H
#define CTXPROP_ABI_H

#include <linux/types.h>
#include <linux/bpf.h>
#include "calling.h"
#include "edits.h"
#include "fields.h"
#include "http/http2/state.h"
#include "http/protocol.h"
#include "reasons.h"
#include "request_id.h"
#include "serving.h"
#include "streams.h"

/* Layout of everything below. A daemon never adopts pinned maps of another version. */
#define CTXPROP_ABI_VERSION 24

/* Default number of flows; a load-time option of the daemon. */
#define CTXPROP_FLOWS_DEFAULT 32768
/* The programs of a device's hooks, by their places in the map `programs` (tc/entry.bpf.c). */
enum entry_program { ENTRY_IN_ETH, ENTRY_IN_IP, ENTRY_OUT_ETH, ENTRY_OUT_IP, ENTRY_PROGRAMS };
/* Where in a packet's cb an entry program leaves its network namespace. */
#define ENTRY_CB 4

/* Namespaces as far as the mark of a packet tells them apart (tc/10-packet.bpf.h). */
#define ATTENDED_MAX 16384

/* The network namespaces in which one daemon works: a bit for each, by its id modulo ATTENDED_MAX.
 */
struct attended {
	__u64 namespace[ATTENDED_MAX / 64];
};

/* Closed flows whose offset is remembered, for packets of TIME_WAIT, or because they may live. */
#define CTXPROP_LINGER_MAX 32768
/* Flows whose tuple is used by another connection since, though nobody has said that they end. */
#define CTXPROP_FORMER_MAX 1024

/* Flows that speak HTTP/2, with `ctxpropd --http2`. */
#define CTXPROP_HTTP2_MAX 1024

/* Who flows with an offset count for, as far as they are told apart (tc/19-share.bpf.h). */
#define FLOW_OWNERS_BITS 12
#define FLOW_OWNERS      (1 << FLOW_OWNERS_BITS)

/* How many of the flow table have an offset: of all, and of each owner. Counted anew now and then.
 */
struct flow_shares {
	__u32 all;
	__u32 of[FLOW_OWNERS];
};

/* One direction of a TCP connection. IPv4 addresses stand as ::ffff:a.b.c.d. */
struct flow_key {
	__u8 src[16] __attribute__((aligned(8)));
	__u8 dst[16];
	__be16 sport;
	__be16 dport;
	__u32 netns; /* which network namespace: the low half of its cookie */
};
_Static_assert(sizeof(struct flow_key) == 40, "flow_key is shared");

enum flow_flags {
	FLOW_OPAQUE = 1 << 0,     /* never edited again, only renumbered */
	FLOW_LEARN = 1 << 1,      /* met in the middle or lost: waits for a place to join */
	FLOW_CANDIDATE = 1 << 2,  /* learning: a whole request head was sent */
	FLOW_ANSWERED = 1 << 3,   /* learning: and the peer answered it with a status line */
	FLOW_PEER_LAST = 1 << 4,  /* the last data on the connection came from the peer */
	FLOW_PEER_SEEN = 1 << 5,  /* packets of the peer pass our inbound hook */
	FLOW_WSCALE = 1 << 6,     /* the window scale of the peer is known */
	FLOW_AWAIT = 1 << 7,      /* an Upgrade was asked for and not yet answered */
	FLOW_FIN_OUT = 1 << 8,    /* our side has sent FIN, at fin_out */
	FLOW_FIN_IN = 1 << 9,     /* the peer has sent FIN, at peer_end */
	FLOW_FORWARDED = 1 << 10, /* no TCP socket of this namespace sends it */
	FLOW_SERVER = 1 << 11,  /* our side is the server: `serving` holds, and nothing is edited */
	FLOW_EARLY = 1 << 13,   /* serving: requests came before there was a socket to tell */
	FLOW_CARRIES = 1 << 12, /* an edit in flight has a tracestate (map `carried`) */
	FLOW_AHEAD = 1 << 14,   /* awaiting: an answer that is not 101 came before its turn */
	FLOW_REFUSED = 1 << 15, /* the last request asked for an Upgrade, and was refused it */
	FLOW_LOCAL = 1 << 16,   /* one does */
	FLOW_TWIN = 1 << 17,    /* another live connection has the same addresses and ports */
	FLOW_DOUBT =
	    1 << 18, /* somebody has begun another connection of its tuple: or so it looks */
	FLOW_FORMER =
	    1 << 19, /* an older flow of the tuple is kept beside this one (map `formers`) */
	FLOW_PAST = 1 << 20,  /* this is that older one */
	FLOW_RESET = 1 << 21, /* a RST was believed; kept for the edits in flight */
	FLOW_HTTP2 = 1 << 22, /* it speaks HTTP/2 (map `http2_flows`, of a server `http2_served`) */
	FLOW_GREETED = 1 << 23, /* serving HTTP/2: our side has spoken first */
	FLOW_FIN_BOTH = FLOW_FIN_OUT | FLOW_FIN_IN,
};

/* A live connection, from our side: what it sends is its outbound direction. */
struct flow {
	__u32 flags;     /* enum flow_flags */
	__u32 framing;   /* 1: a CPU is framing a packet of this flow */
	__u32 isn;       /* app: the sequence number of our SYN */
	__u32 next;      /* app: the byte that framing expects next */
	__u32 sent;      /* app: one past the highest byte sent */
	__u32 peer_ack;  /* app: highest acknowledgement of the peer */
	__u32 window;    /* bytes the peer advertised with it */
	__u32 settled;   /* 1: some CPU knows how to translate acknowledgements without the flow */
	__u32 peer_next; /* peer's numbers: what our side acknowledged last */
	__u32 answer_at; /* peer's numbers: where the awaited answer goes on */
	union {          /* flow_word() tells which */
		__u32 answer_ahead; /* peer's numbers: a final answer begins here */
		__u32 fin_out;      /* app: sequence number of our FIN */
	};
	__u32 peer_end; /* peer's numbers: one past its last byte that came in order; its FIN */
	__u32 way_out;  /* by which the last packet of our side came (packet_way()); 0: not known */
	__u32 way_in;   /* and that of the peer */
	__u16 mss;      /* what the peer accepts in one segment, TCP options included; 0: unknown */
	__u8 wscale;
	__u8 opaque_reason;   /* enum ctxprop_reason */
	__u32 requests;       /* requests seen */
	__u32 policy;         /* policy_remember(): the rule for its requests */
	__u32 owner;          /* who it counts for, plus 1; 0: it does not count */
	__u64 injected;       /* headers injected */
	__u64 opened_ns;      /* CLOCK_MONOTONIC */
	__u64 seen_ns;        /* CLOCK_MONOTONIC, coarse: last data sent */
	struct request_id id; /* that the request head at hand has, if it is read whole */
	union {
		struct {                          /* our side is the client */
			struct protocol protocol; /* of the requests */
			struct protocol answer;   /* the awaited one */
			struct edits edits;
			struct calling calling;
		};
		struct serving serving; /* FLOW_SERVER */
	};
};

/* Does a flow have `edits`? */
static inline int flow_has_edits(const struct flow *f)
{
	return !(f->flags & FLOW_SERVER);
}

/* What the word is that `answer_ahead` and `fin_out` share: one takes the place of the other. */
enum flow_word { FLOW_WORD_NONE, FLOW_WORD_ANSWER, FLOW_WORD_FIN };

static inline enum flow_word flow_word(const struct flow *f)
{
	if (f->flags & FLOW_FIN_OUT)
		return FLOW_WORD_FIN;
	return f->flags & FLOW_AHEAD ? FLOW_WORD_ANSWER : FLOW_WORD_NONE;
}

/* What is known besides of a connection of ours that speaks HTTP/2. */
struct http2_flow {
	__u32 isn;         /* of the flow that it belongs to */
	__u32 next;        /* app: the byte where the reading of our side's frames goes on */
	__u32 answer_next; /* peer's numbers: the same of its frames */
	__u32 reserved;
	struct http2 requests;
	struct http2 answers;
	struct field_places places; /* of its edits in flight */
};

/* A closed flow: what its late packets are renumbered by. */
struct lingering {
	__u32 offset;
	__u32 sent;     /* app: of its FIN */
	__u32 peer_end; /* peer's numbers: of its FIN */
	__u32 way_out;  /* as in struct flow, if it had a twin; else 0 */
	__u32 way_in;
	__u32 reset; /* 1: closed by a RST, which may have been a stranger's: it may live */
};

#define COUNTERS_MAX 128 /* a power of two */
_Static_assert(REASON_COUNT <= COUNTERS_MAX, "a counter for each reason");

/* What one CPU has counted (one entry, index 0): side by side, for a packet moves several. */
struct counters {
	__u64 count[COUNTERS_MAX]; /* by enum ctxprop_reason */
};

/* The switches that act at once on running programs (one entry, index 0). */
struct control {
	__u32 paused; /* 1: no new edits; live flows stay translated */
};

/* Index 0 of the array `version`: lets a daemon recognise pins that it may adopt. */
struct version {
	__u32 abi;
	__u32 flow_size;
};

#endif
