/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For which request does a program of Node make a call? The object of the call (a ClientRequest)
 * has functions to be called with the answer. These have variables of the functions that they were
 * made in, and settle promises, which async functions wait for. So it goes on to whoever waits for
 * the answer, mostly to a function that was called with a request and its response.
 *
 * Somebody else may wait, too: for his turn. And what stands in variables that are shared, or
 * change, may be of somebody else. So these count:
 * - variables that were never assigned to, of the function that a function was made in; those of
 *   functions around that if it has no other objects; never those of modules, nor what is in arrays
 *   and collections;
 * - of async functions what they were called with, if they wait for what they have called;
 * - what is done with an answer, if it takes that.
 * If several requests are found, or there is more to look at than can be, nothing is known.
 */
#ifndef CTXPROP_RUNTIMES_NODE_SEARCH_BPF_H
#define CTXPROP_RUNTIMES_NODE_SEARCH_BPF_H

#include "runtimes/node/waits.bpf.h"

#define NODE_STEPS 1024 /* objects, words and bytes of code that are looked at */

/* Look at what comes next. Returns whether there is nothing left. */
static __always_inline long node_look_on(struct node_search *search)
{
	const struct node_next *next;

	if (search->words.left && search->words.kind == NODE_ANYTHING) {
		node_look_at_words(search);
	} else if (search->words.left && search->words.kind == NODE_CODE) {
		node_look_at_code(search);
	} else if (search->words.left) {
		node_look_at_word(search);
	} else if (!search->words.over) {
		node_end_words(search);
	} else {
		if (search->several || search->first >= search->end)
			return 1;
		next = &search->queue[search->first++ & (NODE_QUEUE - 1)];
		node_look_at(search, next->object, next->type);
	}
	return 0;
}

/* As a callback of bpf_loop(), which only takes what is on the stack. */
static long node_step(__u32 index, struct node_search **on_stack)
{
	return node_look_on(*on_stack);
}

static __always_inline void node_run(struct node_search *search)
{
	bpf_loop(NODE_STEPS, node_step, &search, 0);
	search->several |= search->words.left || !search->words.over || search->first < search->end;
}

/* Who is told of what becomes of a call: functions, as properties of an object. */
static __always_inline void node_look_at_told(struct node_search *search, __u64 events)
{
	struct v8_kind kind = v8_kind_of_map(v8_map(events));

	if (kind.size > kind.start) {
		node_take_words(search, events, kind.start * V8_WORD, kind.size - kind.start);
		node_run(search);
	}
	node_take_elements(search, v8_word(events, V8_PROPERTIES));
	node_run(search);
}

/* Nobody was found: does one of the async functions that wait respond? */
static __always_inline void node_look_at_asyncs(struct node_search *search)
{
	if (search->found || search->several || !search->asyncs)
		return;
	search->first = search->end = 0;
	for (__u32 i = 0; i < NODE_ASYNCS; i++)
		if (i < search->asyncs)
			node_queue(search, search->async[i], NODE_BARE);
	node_run(search);
}

/* In place of a request: all was looked at, and nobody was found. */
#define NODE_NO_REQUEST (~0ULL)
/* The same, of undici, which may send before fetch() has given back a promise to wait for. */
#define NODE_NO_REQUEST_YET (~1ULL)

static __always_inline void node_begin(struct node_search *search, const struct runtime_v8 *v8,
				       __u32 tgid)
{
	search->v8 = *v8;
	search->found = 0;
	search->bare = search->reacts = search->shared = 0;
	search->first = search->end = search->several = search->asyncs = 0;
	for (int i = 0; i < NODE_SEEN; i++)
		*(volatile __u64 *)&search->seen[i] = 0;
	v8_look_begin(&search->look, tgid);
}

/* undici: who is told of what becomes of the call that is sent now on this socket. */
static __always_inline __u64 node_handler_of(struct v8_look *look, __u64 socket)
{
	__u64 client = v8_property(look, v8_property(look, socket, V8_PARSER), V8_CLIENT);
	__u64 queue = v8_word(v8_property(look, client, V8_QUEUE), V8_ELEMENTS);
	__u32 index = v8_number(v8_property(look, client, V8_PENDING));

	if (index >= v8_number(v8_word(queue, V8_LENGTH)))
		return 0;
	return v8_property(look, v8_word(queue, V8_ELEMENTS + index * V8_WORD), V8_HANDLER);
}

/*
 * Begin a search for the call that the current thread begins with this socket of the kernel's.
 * Returns the object that tells who is told of what becomes of the call; 0: it is not found.
 */
VERIFIED_ALONE __u64 node_find_call(struct node_search *search, const struct runtime *runtime,
				    const struct process_address *socket)
{
	__u32 descriptor = syscall_argument(bpf_get_current_task_btf());
	__u64 owner, told;

	if (!search || !runtime || !socket || socket_of_descriptor(descriptor) != socket->address ||
	    !node_find_handle(descriptor, &search->call))
		return 0;
	node_begin(search, &runtime->node.v8, socket->tgid);
	owner = v8_property(&search->look, search->call.object, V8_OWNER);
	search->message = v8_property(&search->look, owner, V8_MESSAGE);
	told = v8_property(&search->look, search->message, V8_EVENTS);
	if (!v8_is_object(told))
		told = node_handler_of(&search->look, owner);
	return v8_is_object(told) ? told : 0;
}

/* So many calls, found by what functions do, must have been before the next one counts. */
#define NODE_BARE_TOLD 8

/*
 * Does it count who was found by what functions without parameters do? Not in programs in which one
 * of these was seen to wait for a call beside another one: then it may be the turn of either, after
 * a call of anybody's, and no function that is called then counts.
 */
static __always_inline int node_bare_counts(const struct node_search *search, struct runtime_v8 *v8)
{
	if (search->shared)
		v8->bare_shared = 1;
	if (search->several || !search->found)
		return 1;
	if (v8->bare_shared)
		return !search->bare && !search->reacts;
	if (!search->bare || v8->bare_told >= NODE_BARE_TOLD)
		return 1;
	v8->bare_told++;
	return 0;
}

static __always_inline __u64 node_search(struct node_search *search, struct runtime *runtime,
					 const struct process_address *socket)
{
	__u64 events = node_find_call(search, runtime, socket);
	int counts;

	if (!events)
		return 0;
	node_look_at_told(search, events);
	node_look_at_asyncs(search);
	counts = node_bare_counts(search, &runtime->node.v8);
	if (search->several)
		return 0;
	if (search->found && counts)
		return search->found;
	return v8_is_object(search->message) ? NODE_NO_REQUEST : NODE_NO_REQUEST_YET;
}

/*
 * The request for which the current thread, of a program of Node, begins a call with this socket of
 * the kernel's; NODE_NO_REQUEST or NODE_NO_REQUEST_YET; 0: it cannot be told.
 */
VERIFIED_ALONE __u64 node_calls(struct runtime *runtime, const struct process_address *socket)
{
	struct node_search *search;

	if (!runtime || !runtime->node.v8.object)
		return 0;
	search = bpf_task_storage_get(&node_searches, bpf_get_current_task_btf(), NULL,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	return search ? node_search(search, runtime, socket) : 0;
}

#endif
