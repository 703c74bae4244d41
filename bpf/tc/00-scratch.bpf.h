/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every stage shares: counters, the kill switch, and one working area per CPU.
 *
 * Outbound programs run with bottom halves disabled, so the area belongs to one packet at a
 * time; the nested run that sends a lead only reads what its parent left there (70-lead).
 */
#ifndef CTXPROP_TC_SCRATCH_BPF_H
#define CTXPROP_TC_SCRATCH_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include "abi.h"
#include "change.h"
#include "compat.bpf.h"
#include "engine/end.bpf.h"
#include "engine/maps.bpf.h"
#include "records.h"
#include "tick.bpf.h"
#include "traceparent.h"

/* Other programs of the node run after (or before) us, whatever we did. */
#define NEXT -1 /* TC_ACT_UNSPEC, TCX_NEXT */
#define DROP 2  /* TC_ACT_SHOT, TCX_DROP */

/* The deepest place, and the longest run of app bytes, that one packet is rewritten for. */
#define WIRE_MAX 4096
/* That run with all the edits a flow can hold; a power of two. */
#define WIRE_SIZE 8192

/* The edits that one packet carries, in order, and what they come to. */
struct plan {
	__u32 count;    /* of HTTP/2: places (fields.h) */
	__u32 first;    /* HTTP/2: payload offset of the first byte that is changed, */
	__u32 last;     /* and behind the last one, or where the last field stands */
	__u32 wire_seq; /* of the first byte of the packet */
	__u32 added;    /* bytes: sum of the edits */
	__u64 sum;      /* ones' complement sum of the edits at their places, unfolded */
	__u64 carried;  /* that of the tracestate rendered last, wherever it is */
	struct edit edit[EDITS_MAX];
};

/* Where a walk over the fields of a packet of HTTP/2 is (85-fields). */
struct fields_at {
	struct fields_walk walk;
	struct field_met met;
	__u32 len;  /* of the payload that it is about */
	__u32 from; /* payload offset of the next byte to be copied */
	__u32 pos;  /* bytes rendered so far */
	__u32 failed;
};

/* What was decided about the packet at hand. */
struct decision {
	__u32 room;      /* largest payload that may leave in one packet, or ROOM_UNKNOWN yet */
	__u32 path;      /* what the path carries of it, or ROOM_UNKNOWN yet */
	__u32 sent;      /* app: one past the highest byte sent before this packet */
	__u32 fresh;     /* edits recorded for this packet */
	__u32 added;     /* bytes they add */
	__u32 first;     /* payload offset of the first of them */
	__u32 resent;    /* the packet carries bytes that were sent before */
	__u32 others;    /* edits in flight */
	__u32 bytes;     /* and what they come to */
	__u32 behind;    /* bytes after the packet that may leave before an acknowledgement comes */
	__u32 changed;   /* edits recorded for this packet that change bytes in place */
	__u32 restarted; /* requests that take them */
	__u32 stripped;
	__u32 place;    /* payload offset for the header of a request that is restarted */
	__u32 reason;   /* of the request at hand; REASON_NONE: nothing was decided about it here */
	__u32 named;    /* 1: it leaves with the ids in scratch.edit */
	__u32 inserted; /* bytes that are put into it */
};

/* What the next, nested run of this program on this CPU is to send: a lead. */
struct lead {
	__u32 armed;
	__u32 taken;
	__u32 ifindex;
	__u32 len;      /* of the packet it is cut from: how the run recognises it */
	__u32 from, to; /* which bytes of scratch.wire it carries */
	__u32 seq;      /* wire number of its first byte */
	__u32 queue;    /* transmit queue + 1 of the packet that follows; 0: any */
};

/* A flow without edits in flight: one offset translates all its numbers (in-05-settled). */
struct settled {
	__u32 offset;
	__u32 ack;     /* wire: the last acknowledgement that the flow's entry was updated by, */
	__u32 jiffies; /* when that was, */
	__u16 window;  /* and its window, in units of the peer's scale */
	__u16 scale;
	__u32 way; /* packet_way() of that packet */
};

enum quiet_kind { QUIET_UNTOUCHED, QUIET_SETTLED };

/* What is known of a tuple without a look at its flow (15-quiet). */
struct quiet {
	struct flow_key key;
	__u32 epoch;
	__u32 kind;             /* enum quiet_kind */
	struct settled settled; /* QUIET_SETTLED */
};
#define QUIET_MAX 64 /* a power of two */

/* State of the random numbers (random.bpf.h). */
struct random {
	__u64 s[4];
};

struct scratch {
	/* What nearly every packet or request needs comes first, so that it is in few cache lines.
	 */
	struct tick tick;
	__u64 now_ns; /* of the packet at hand, once record_now() was asked; 0: it was not */
	struct lead lead;
	struct random random;
	struct decision decision;
	struct edit edit;   /* a new one, before it is recorded */
	struct edit joined; /* and one of HTTP/2, to which a packet adds field by field */
	struct traceparent_line line;
	struct call call;            /* why the request at hand is sent */
	struct change_fields fields; /* of the head at hand */
	struct plan plan;
	struct fields_at fields_at;
	struct protocol_window window;
	__u8 header[64]; /* a TCP header, or its options */
	__u8 header_new[64] __attribute__((aligned(8)));
	struct protocol trial;
	struct edit change;
	struct traceparent parent;   /* that an incoming request brought, and what is made of it */
	struct traceparent_text own; /* traceparent of the program's own */
	struct request request;      /* one for which the table of requests has no room */
	struct bpf_sock_tuple tuple; /* of a socket that is looked for */
	struct change_order order;
	struct quiet quiet[QUIET_MAX];
	struct flow flow;        /* a new one, before anybody else can find it */
	struct http2_flow http2; /* a new one, the same */
	struct streams streams;  /* and that of a server */
	struct flow_key served;  /* of the one at hand: there is no room on the stack */
	__u32 greeted_to;        /* of one that has spoken first: its next byte */
	struct flow_key crowd;   /* of a flow that may be evicted (21-room) */
	struct record_begin record;
	/* The bytes to be written. The slack is for the verifier, which adds up the largest offset
	 * and the largest length. */
	__u8 wire[WIRE_SIZE + WIRE_MAX] __attribute__((aligned(8)));
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} counters __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct version);
} version __weak SEC(".maps");

static __always_inline struct scratch *scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch, &zero);
}

/* CLOCK_MONOTONIC some time in this tick. */
static __always_inline __u64 clock_coarse(void)
{
	struct scratch *s = scratch_get();

	return s ? tick_ns(&s->tick) : 0;
}

static __always_inline void count_many(__u32 reason, __u32 times)
{
	__u32 zero = 0;
	struct counters *c = bpf_map_lookup_elem(&counters, &zero);

	/* The verifier knows the range of a number only in the register that was compared. */
	if (!__builtin_constant_p(reason))
		barrier_var(reason);
	if (c)
		c->count[reason & (COUNTERS_MAX - 1)] += times;
}

static __always_inline void count(__u32 reason)
{
	count_many(reason, 1);
}

/* Set at load time: these programs never edit, but live flows stay translated. */
const volatile __u32 only_translate __weak = 0;

/* Is editing switched off? */
static __always_inline int control_paused(void)
{
	__u32 zero = 0;
	struct control *c = bpf_map_lookup_elem(&control, &zero);

	return only_translate || !c || c->paused;
}

#endif
