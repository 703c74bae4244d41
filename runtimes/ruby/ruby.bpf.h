/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which request a thread of Ruby works on: the one whose connection, an object of class IO, stands
 * on its stack, whoever has read it. Ruby keeps the local variables and arguments of all methods
 * and blocks that are at work in an array of the thread's own (or the fiber's).
 */
#ifndef CTXPROP_RUNTIMES_RUBY_RUBY_BPF_H
#define CTXPROP_RUNTIMES_RUBY_RUBY_BPF_H

#include "compat.bpf.h"
#include "engine/maps.bpf.h"
#include "runtimes/ruby/maps.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "engine/standing.h"
#include "probes/user.bpf.h"
#include "runtimes/ruby/state.bpf.h"

#define ADDRESSES_MIN 4096

/* May a word be the address of an object? Others are numbers, truth values and the like. */
static __always_inline int ruby_is_object(__u64 word)
{
	return word >= ADDRESSES_MIN && !(word % WORD);
}

/* A request is read: its connection is whose method is at work. */
static __always_inline void ruby_reads(__u32 tgid, __u64 context, __u64 request)
{
	struct process_address at = {.tgid = tgid};
	struct object now = {.request = request}, *old;

	at.address = user_read(user_read(context + RUBY_CONTEXT_FRAME) + RUBY_FRAME_SELF);
	if (!ruby_is_object(at.address) ||
	    (user_read(at.address) & RUBY_TYPE_MASK) != RUBY_TYPE_FILE)
		return;
	old = object_lookup(&at);
	now.shared =
	    old && !old->item && (old->shared || request_standing(old->request) != STANDING_NONE);
	object_set(&at, &now);
}

/* A walk over a stack. */
struct ruby_walk {
	__u64 at, end;
	__u64 found;   /* an open request whose connection is there; 0: none yet */
	__u64 item;    /* one that something was taken out of a queue for that is there */
	__u32 several; /* 1: so are connections of others */
	__u32 items;   /* 1: so are items of others */
	__u32 tgid;
	__u32 reserved;
};

static __always_inline void ruby_walk_item(struct ruby_walk *walk, const struct object *object)
{
	if (object->shared || object->request == walk->item)
		return;
	walk->items |= walk->item != 0;
	walk->item = object->request;
}

static __always_inline void ruby_walk_word(struct ruby_walk *walk, __u64 word)
{
	struct process_address at = {.tgid = walk->tgid, .address = word};
	const struct object *object;

	if (!ruby_is_object(word))
		return;
	object = object_lookup(&at);
	if (!object || request_standing(object->request) == STANDING_NONE)
		return;
	if (object->item) {
		ruby_walk_item(walk, object);
		return;
	}
	if (object->request == walk->found)
		return;
	walk->several |= walk->found || object->shared;
	walk->found = object->request;
}

/* As a callback of bpf_loop(). */
static long ruby_walk_chunk(__u32 index, struct ruby_walk *walk)
{
	__u64 words[USER_CHUNK], from = walk->at;

	if (!user_chunk(&walk->at, walk->end, words))
		return 1;
	for (int i = 0; i < USER_CHUNK; i++)
		if (from + i * WORD < walk->end)
			ruby_walk_word(walk, words[i]);
	return 0;
}

/* Requests that a thread has something of on its stack; 0: of none, or it cannot be told which. */
struct ruby_held {
	__u64 connection; /* the one that it works on, then */
	__u64 item;       /* out of a queue */
};

/* Look for what the thread in this context has. */
static __always_inline void ruby_search(struct ruby_walk *walk, __u64 context)
{
	walk->at = user_read(context + RUBY_CONTEXT_STACK);
	walk->end = user_read(user_read(context + RUBY_CONTEXT_FRAME) + RUBY_FRAME_SP);
	bpf_loop(RUBY_STACK_MAX / USER_CHUNK, ruby_walk_chunk, walk, 0);
}

VERIFIED_ALONE int ruby_look(__u32 tgid, __u64 context, struct ruby_held *ret_held)
{
	struct ruby_walk walk = {.tgid = tgid};

	if (!context || !ret_held)
		return 0;
	ruby_search(&walk, context);
	ret_held->connection = walk.several ? 0 : walk.found;
	ret_held->item = walk.items ? 0 : walk.item;
	return 0;
}

/* Was it seen that what comes out of a queue is work, and not something to use? */
static __always_inline int ruby_queue_works(__u32 tgid, __u64 queue)
{
	struct process_address at = {.tgid = tgid, .address = queue};
	const struct ruby_queue *known = ruby_queues_lookup(&at);

	return known && (known->flags & RUBY_QUEUE_WORKS);
}

/*
 * The request whose connection the thread in this context has, which calls; 0: none, or it cannot
 * be told which. What it took out of a queue is no longer what it works on if it does not have
 * that, or something that was taken out for others, nor if that may be something to use. (A
 * function of its own: stacks are small.)
 */
VERIFIED_ALONE __u64 ruby_calls(__u32 tgid, __u64 context)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct ruby_walk walk = {.tgid = tgid};
	struct worker *w;

	if (!context)
		return 0;
	ruby_search(&walk, context);
	w = worker_lookup(&key);
	if (w && w->queue && w->inherited_by == EVIDENCE_TASK &&
	    (walk.items || w->inherited != walk.item || !ruby_queue_works(tgid, w->queue)) &&
	    ENGINE_LEARNS)
		w->inherited = 0;
	return walk.several ? 0 : walk.found;
}

static __always_inline struct ruby_held ruby_holds(__u32 tgid, __u64 context)
{
	struct ruby_held held = {};

	ruby_look(tgid, context, &held);
	return held;
}

#endif
