/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections of local servers that speak HTTP/2, as both hooks see them: the streams that wait for
 * their responses (streams.h), and what happens when the connection is over or cannot be read.
 */
#ifndef CTXPROP_TC_STREAMS_BPF_H
#define CTXPROP_TC_STREAMS_BPF_H

#include "20-flow.bpf.h"
#include "ended.bpf.h"
#include "engine/stream_maps.bpf.h"
#include "record.bpf.h"

VERIFIED_ALONE __u32 streams_place(const struct streams *s, __u32 stream)
{
	return s ? streams_find(s, stream) : STREAMS_MAX;
}

/*
 * The request at a place is over, if there still is the one of `stream` (0: whichever it is). Both
 * sides may find that at once, and the place may be another one's by then: only one takes it. (In
 * place, not as a function: Linux 6.1 allows no deeper calls.)
 */
static __always_inline void stream_close(struct flow *f, struct streams *s, __u32 place,
					 __u32 stream, __u32 reason)
{
	__u64 id;

	if (!index_within(&place, STREAMS_MAX))
		return;
	id = *(volatile __u64 *)&s->request[place];
	if (!id || (stream && *(volatile __u32 *)&s->stream[place] != stream) ||
	    __sync_val_compare_and_swap(&s->request[place], id, 0) != id)
		return;
	__sync_fetch_and_add(&f->serving.open_first, 1);
	record_stream_end(&f->serving, id,
			  reason == REASON_SERVED_ENDED ? RECORD_ANSWERED : RECORD_CLOSED);
	serving_request_ended(id);
	count(reason);
}

/* Nothing more comes on a stream. */
static __always_inline void stream_ends(struct flow *f, struct streams *s, __u32 stream,
					__u32 reason)
{
	stream_close(f, s, streams_place(s, stream), stream, reason);
}

struct streams_cutting {
	struct flow *flow;
	struct streams *streams;
};

/* As a callback of bpf_loop(). */
static long streams_cut_step(__u32 i, struct streams_cutting *cutting)
{
	stream_close(cutting->flow, cutting->streams, i, 0, REASON_SERVED_CUT);
	return 0;
}

/*
 * The connection is over, or not read any more: no response that is still to come will be seen, so
 * all open requests are over.
 */
VERIFIED_ALONE int streams_end(const struct flow_key *key, struct flow *f)
{
	struct streams_cutting cutting = {.flow = f};
	struct scratch *s = scratch_get();

	if (!s || !key || !f)
		return 0;
	s->served = *key; /* before 6.4 a map's key must be on the stack or in a map */
	cutting.streams = http2_served_lookup(&s->served);
	if (!cutting.streams)
		return 0;
	bpf_loop(STREAMS_MAX, streams_cut_step, &cutting, 0);
	bpf_map_delete_elem(&http2_served, &s->served);
	return 0;
}

/* It is never read again: what its tables hold is not known any more. */
static __always_inline void streams_refuse(const struct flow_key *key, struct flow *f, __u32 reason)
{
	streams_end(key, f);
	flow_make_opaque(f, reason);
}

#endif
