/* SPDX-License-Identifier: GPL-2.0-only */
/* From the object of a connection to the nearest one of a request, in a program in C or the like.
 */
#ifndef CTXPROP_RUNTIMES_NATIVE_SEARCH_BPF_H
#define CTXPROP_RUNTIMES_NATIVE_SEARCH_BPF_H

#include "runtimes/native/objects.h"
#include "runtimes/native/object.bpf.h"

#define NATIVE_DEPTH 4 /* steps from an object at hand */

/* A request was found, so far away. Is another one as near, or only a step farther away? */
static __always_inline void native_found(struct native_search *search,
					 const struct native_next *next, __u64 request)
{
	if (!search->found.request) {
		search->found.request = request;
		search->found.by = next->object;
		search->found.shape = next->shape;
		search->found.word = next->word;
		search->found.depth = next->depth;
	} else if (search->found.request != request) {
		search->others |=
		    next->depth == search->found.depth ? NATIVE_OTHERS_NEAR : NATIVE_OTHERS_BEYOND;
	}
}

/* As a callback of bpf_loop(), which only takes what is on the stack. */
static long native_step(__u32 index, struct native_search **on_stack)
{
	struct native_search *search = *on_stack;
	struct native_next next;
	__u64 request;
	__u32 words;

	if (search->first >= search->end)
		return 1;
	next = search->queue[search->first++ & (NATIVE_QUEUE - 1)];
	if (search->found.request && next.depth > search->found.depth + 1)
		return 1;
	request = native_request(search, next.object);
	if (request && (!search->shape || search->shape == next.shape))
		native_found(search, &next, request);
	if (request || next.depth >= NATIVE_DEPTH)
		return 0;
	words = native_read(search, next.object);
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < NATIVE_WORDS; i++) {
		if (i >= words)
			break;
		native_push(search, search->read.word[i & (NATIVE_WORDS - 1)],
			    native_step_to(&next, i));
	}
	return 0;
}

/*
 * Whom do the objects name that are queued, and those that they lead to? A request,
 * OBJECTS_NO_REQUEST, or 0: it cannot be told. `shape`: only those count that are found like that;
 * 0: all.
 */
static __always_inline __u64 native_search(struct native_search *search, __u32 shape)
{
	if (!search->end)
		return 0;
	search->shape = shape;
	bpf_loop(NATIVE_QUEUE + 1, native_step, &search, 0);
	if (search->others & NATIVE_OTHERS_NEAR)
		return 0;
	if (!search->found.request)
		return search->lost_depth == NATIVE_NOWHERE ? OBJECTS_NO_REQUEST : 0;
	if (search->lost_depth <= search->found.depth)
		return 0;
	if (search->lost_depth == search->found.depth + 1)
		search->others |= NATIVE_OTHERS_BEYOND;
	return search->found.request;
}

#endif
