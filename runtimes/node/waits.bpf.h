/* SPDX-License-Identifier: GPL-2.0-only */
/* Who waits: what functions, promises, async functions and their variables (V8's contexts) lead to.
 */
#ifndef CTXPROP_RUNTIMES_NODE_WAITS_BPF_H
#define CTXPROP_RUNTIMES_NODE_WAITS_BPF_H

#include "runtimes/node/words.bpf.h"

#define NODE_LOCALS_MAX    32 /* variables of a function */
#define NODE_ARGUMENTS_MAX 8  /* with which it was called */
#define CONTEXT_OWN        4  /* slots of contexts of V8's own functions, at most */
#define CONTEXT_FIXED      2  /* of all contexts, before these */

/*
 * Does a context belong to a module, or is it that of V8 itself? The outermost one has none around
 * it.
 */
static __always_inline int node_is_outermost(struct node_search *search, __u64 around)
{
	return !node_is_context(search, node_type(search, around)) ||
	       !node_is_context(search, node_type(search, v8_word(around, CONTEXT_PREVIOUS)));
}

/* Who makes a call for others tells them of the answer, too. */
static __always_inline void node_look_at_emitter(struct node_search *search, __u64 events)
{
	node_push(search, v8_property(&search->look, events, V8_RESPONSE));
	node_take_elements(search, v8_word(events, V8_PROPERTIES));
	search->words.kind = NODE_RESPONSE;
}

/* The variables of a context are next. */
static __always_inline void node_take_variables(struct node_search *search, __u64 context,
						__u32 count, __u32 length)
{
	node_take_words(search, context, V8_ELEMENTS + (length - count) * V8_WORD, count);
	search->words.context = context;
}

/* fetch() has made this function, and has an object for the promise that it gave back. */
static __always_inline void node_look_at_process(struct node_search *search, __u64 function)
{
	__u64 context = v8_word(function, search->v8.context);
	__u32 length = v8_number(v8_word(context, V8_LENGTH));
	__u32 count = v8_number(v8_word(v8_word(context, CONTEXT_SCOPE), SCOPE_LOCALS));

	if (count > NODE_LOCALS_MAX || count + CONTEXT_FIXED > length)
		return;
	node_take_variables(search, context, count, length);
	search->words.kind = NODE_PROMISES;
}

/* Variables of the function that a function was made in, and of those around that. */
static __always_inline void node_look_at_context(struct node_search *search, __u64 context)
{
	__u64 scope = v8_word(context, CONTEXT_SCOPE), around = v8_word(context, CONTEXT_PREVIOUS);
	__u32 length = v8_number(v8_word(context, V8_LENGTH));
	__u32 count = v8_number(v8_word(scope, SCOPE_LOCALS));
	struct node_words *words = &search->words;

	if (!v8_is_object(around) || count > NODE_LOCALS_MAX || count + CONTEXT_FIXED > length)
		return;
	if (!count) {
		if (length <= CONTEXT_FIXED + CONTEXT_OWN)
			node_take_words(search, context, CONTEXT_SLOTS, length - CONTEXT_FIXED);
		return;
	}
	if (node_is_outermost(search, around))
		return;
	node_take_variables(search, context, count, length);
	words->kind = NODE_VARIABLES;
	words->known = scope - V8_TAG + search->v8.locals + count * V8_WORD;
	words->next = around;
	words->end = search->end;
}

/* Is it a function of the program's, not one of V8's own, which has a number instead of code? */
static __always_inline int node_is_own_function(const struct node_search *search, __u64 function)
{
	__u64 shared = v8_word(function, search->v8.shared);
	__u64 code = v8_word(shared, V8_SHARED_CODE);

	return v8_is_object(code ? code : v8_word(shared, V8_SHARED_SOURCE));
}

/* An async function waits: what counts is what it was called with, or else who waits for it. */
static __always_inline void node_look_at_async(struct node_search *search, __u64 object)
{
	__u32 count = node_parameters(search, v8_word(object, V8_ASYNC_FUNCTION));
	struct node_words *words = &search->words;

	count = count ? count - 1 : 0; /* without `this` */
	node_take_words(search, v8_word(object, ASYNC_REGISTERS), V8_ELEMENTS,
			count < NODE_ARGUMENTS_MAX ? count : NODE_ARGUMENTS_MAX);
	words->kind = NODE_ARGUMENTS;
	words->context = object;
	words->next = v8_word(object, ASYNC_PROMISE);
	words->end = search->end;
}

static __always_inline void node_look_at_bound(struct node_search *search, __u64 object)
{
	__u64 self = v8_word(object, BOUND_THIS);

	node_push_word(search, object, BOUND_FUNCTION);
	if (node_type(search, self) == search->v8.object)
		node_push(search, v8_property(&search->look, self, V8_LISTENER));
}

/* What is to be done when a promise is settled: the function; 0: it says nothing. */
static __always_inline __u64 node_reacts(struct node_search *search, __u64 reaction)
{
	__u64 function = v8_word(reaction, REACTION_FIRST + REACTION_FULFILLED);

	return node_type(search, function) == search->v8.function ? function : 0;
}

/* Is it a function of the program's that does not take the answer? */
static __always_inline int node_is_bare(struct node_search *search, __u64 function)
{
	return function && node_is_own_function(search, function) &&
	       node_parameters(search, function) == 1;
}

/* Another one waits for the same: so it may be somebody's turn. */
static __always_inline void node_look_beside(struct node_search *search, __u64 function, __u64 next,
					     __u32 moved)
{
	__u64 other = node_reacts(search, next + moved);

	if (function && other && (node_is_bare(search, function) || node_is_bare(search, other)))
		search->shared = 1;
}

/*
 * Something is to be done when a promise is settled. What does not take the answer may be somebody
 * else's turn, who has waited for the end of this one, as may whoever waits for that: it only
 * counts if all that is left to do is to respond.
 */
static __always_inline void node_look_at_reaction(struct node_search *search, __u64 object)
{
	__u64 next = v8_word(object, REACTION_FIRST), function;
	__u32 moved = 0;

	if (next && node_type(search, next) != search->v8.reaction) {
		moved = V8_WORD;
		next = v8_word(object + moved, REACTION_FIRST);
	}
	function = node_reacts(search, object + moved);
	if (v8_is_object(next)) {
		node_push(search, next);
		node_look_beside(search, function, next, moved);
	}
	if (node_is_bare(search, function)) {
		node_take_function(search, function);
		return;
	}
	search->reacts |= function && node_is_own_function(search, function);
	node_push_word(search, object + moved, REACTION_FIRST + REACTION_FULFILLED);
	node_push_word(search, object + moved, REACTION_FIRST + REACTION_PROMISE);
}

VERIFIED_ALONE int node_look_at(struct node_search *search, __u64 object, __u32 type)
{
	const struct runtime_v8 *v8;

	if (!search)
		return 0;
	v8 = &search->v8;
	if (type == v8->function)
		node_push_word(search, object, v8->context);
	else if (type == v8->bound)
		node_look_at_bound(search, object);
	else if (type == v8->promise)
		node_push_word(search, object, PROMISE_REACTIONS);
	else if (type == v8->reaction)
		node_look_at_reaction(search, object);
	else if (type == v8->capability)
		node_push_word(search, object, CAPABILITY_PROMISE);
	else if (type == v8->async && v8_awaits_call(v8, object))
		node_look_at_async(search, object);
	else if (type == v8->array)
		node_take_elements(search, v8_word(object, V8_ELEMENTS));
	else if (type == NODE_EMITTER)
		node_look_at_emitter(search, object);
	else if (type == NODE_BARE)
		node_take_async(search, object);
	else if (type == NODE_PROCESS)
		node_look_at_process(search, object);
	else if (node_is_context(search, type))
		node_look_at_context(search, object);
	return 0;
}

#endif
