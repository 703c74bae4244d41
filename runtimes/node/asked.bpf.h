/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For which request does a thread of Node work at this moment? The functions that it is at tell,
 * the innermost first: what they were called with, variables of those that they were made in, and
 * who waits for what a function does that goes on when a promise is settled. It is the search of
 * calls (search.bpf.h), begun at the stack. The first function that leads to a request decides;
 * where one leads to several, or there is more to look at than can be, nothing is known.
 *
 * Whoever includes this defines ENGINE_ASKS, and runs with interrupts off.
 */
#ifndef CTXPROP_RUNTIMES_NODE_ASKED_BPF_H
#define CTXPROP_RUNTIMES_NODE_ASKED_BPF_H

#include "runtimes/node/search.bpf.h"

#define NODE_ASKED_STEPS     512 /* frames, objects, words and bytes of code that are looked at */
#define NODE_ASKED_FUNCTIONS 24  /* of JavaScript */
#define NODE_ASKED_ARGUMENTS 8   /* of one function; a power of two */
#define NODE_ASKED_SPILLED   16  /* words of the frame of V8's own code that has called one */
#define NODE_ASKED_BELOW     24  /* bytes of a frame below its frame pointer that are read */

/* The frame of a function of JavaScript, as all code of V8 makes it (x86-64). */
struct node_asked_frame {
	__u64 count; /* of arguments, with `this` */
	__u64 function, context;
	__u64 next, returns; /* the caller's frame, and where it goes on */
	__u64 self;          /* `this` */
	__u64 argument[NODE_ASKED_ARGUMENTS];
};

struct node_asked {
	struct node_search search;
	struct node_asked_frame frame;
	__u64 spilled[NODE_ASKED_SPILLED];
	__u64 at;        /* the frame pointer of the next frame */
	__u64 called;    /* that of the function that was met just before; 0: none was */
	__u32 functions; /* that were looked at */
	__u32 told;      /* tgid of which it is known how Node's objects lead to the kernel's */
};

/* The one of each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct node_asked);
} node_askeds SEC(".maps");

/*
 * What the function was called with: is it a request, or has it one? It may be functions that are
 * to be called with what comes of it, too.
 */
static __always_inline void node_asked_arguments(struct node_asked *asked)
{
	struct node_search *search = &asked->search;
	__u64 count = node_parameters(search, asked->frame.function);

	if (count < asked->frame.count)
		count = asked->frame.count;
	node_examine(search, asked->frame.self, 1);
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < NODE_ASKED_ARGUMENTS && i + 1 < count; i++) {
		__u64 argument = asked->frame.argument[i & (NODE_ASKED_ARGUMENTS - 1)];

		if (!node_examine(search, argument, 0) &&
		    node_type(search, argument) == search->v8.function)
			node_push(search, argument);
	}
}

/*
 * V8's own code has called the function that was met before. If it did since a promise was settled,
 * it has the one at hand that settles when the function returns, for which others may wait.
 */
static __always_inline void node_asked_settles(struct node_asked *asked, __u64 called, __u64 at)
{
	const __u64 from =
	    at - V8_WORD - sizeof(asked->spilled); /* the word at `at` - 8 is a number */
	struct node_search *search = &asked->search;
	__u64 found = 0;

	if (bpf_probe_read_user(asked->spilled, sizeof(asked->spilled), (const void *)from))
		return;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < NODE_ASKED_SPILLED; i++) {
		__u64 word = asked->spilled[i];

		if (from + i * V8_WORD <= called || word == found ||
		    node_type(search, word) != search->v8.promise)
			continue;
		if (found)
			return;
		found = word;
	}
	if (found)
		node_push(search, found);
}

/* It is called when what an async function has waited for is there, which goes on then. */
static __always_inline void node_asked_goes_on(struct node_asked *asked)
{
	struct node_search *search = &asked->search;
	__u64 context = v8_word(asked->frame.function, search->v8.context);

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i <= CONTEXT_OWN; i++) {
		__u64 word = v8_word(context, CONTEXT_SCOPE + i * V8_WORD);

		if (node_type(search, word) != search->v8.async)
			continue;
		node_look_at_async(search, word);
		return;
	}
}

/* Is something left to look at from the function on that was met last? */
static __always_inline int node_asked_has_more(const struct node_search *search)
{
	return search->words.left || !search->words.over || search->first < search->end;
}

/* A function of JavaScript: for which request is it at work? */
static __always_inline void node_asked_begin(struct node_asked *asked)
{
	struct node_search *search = &asked->search;

	if (!node_is_own_function(search, asked->frame.function)) {
		node_asked_goes_on(asked);
		return;
	}
	node_asked_arguments(asked);
	if (!search->found)
		node_push(search, asked->frame.function);
}

/* The next frame. Returns whether there is none that counts. */
static __always_inline long node_asked_next(struct node_asked *asked)
{
	struct node_asked_frame *frame = &asked->frame;
	struct node_search *search = &asked->search;
	__u64 at = asked->at, called = asked->called;

	if (!at ||
	    bpf_probe_read_user(frame, sizeof(*frame), (const void *)(at - NODE_ASKED_BELOW)))
		return 1;
	asked->at = frame->next > at ? frame->next : 0; /* stacks grow downwards */
	asked->called = 0;
	search->first = search->end = 0;
	if (!v8_is_object(frame->context) ||
	    node_type(search, frame->function) != search->v8.function) {
		if (called)
			node_asked_settles(asked, called, at);
		return 0;
	}
	if (++asked->functions > NODE_ASKED_FUNCTIONS)
		return 1;
	asked->called = at;
	node_asked_begin(asked);
	return 0;
}

/* As a callback of bpf_loop(), which only takes what is on the stack. */
static long node_asked_step(__u32 index, struct node_asked **on_stack)
{
	struct node_asked *asked = *on_stack;
	struct node_search *search = &asked->search;

	if (search->several)
		return 1;
	if (node_asked_has_more(search)) {
		node_look_on(search);
		return 0;
	}
	return search->found ? 1 : node_asked_next(asked);
}

/* Does it count who was found? See node_bare_counts(). */
static __always_inline int node_asked_counts(const struct node_search *search)
{
	if (search->shared || search->v8.bare_shared)
		return !search->bare && !search->reacts;
	return 1;
}

/* In place of a request: there are several, or there was too much to look at. */
#define NODE_SEVERAL_REQUESTS (~2ULL)

/*
 * The request that the current thread, of a program of Node, works on; NODE_SEVERAL_REQUESTS; 0:
 * its functions lead to none.
 */
VERIFIED_ALONE __u64 node_works_on(const struct runtime *runtime)
{
	__u32 zero = 0, tgid = bpf_get_current_pid_tgid() >> 32;
	struct node_asked *asked = bpf_map_lookup_elem(&node_askeds, &zero);
	struct node_search *search;

	if (!runtime || !runtime->node.v8.object || !asked)
		return 0;
	search = &asked->search;
	if (asked->told != tgid)
		search->call.wrap = 0;
	asked->told = tgid;
	asked->functions = 0;
	asked->called = 0;
	asked->at = syscall_frame();
	node_begin(search, &runtime->node.v8, tgid);
	search->message = 0;
	search->words = (struct node_words){.over = 1};
	bpf_loop(NODE_ASKED_STEPS, node_asked_step, &asked, 0);
	search->several |= node_asked_has_more(search);
	node_look_at_asyncs(search);
	if (search->several)
		return NODE_SEVERAL_REQUESTS;
	return node_asked_counts(search) ? search->found : 0;
}

#endif
