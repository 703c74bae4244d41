/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a function does when it goes on, told by its code: does it respond? A function without
 * parameters does not say by these for which request it is. But one that calls a method of a
 * response, which is a variable of the function that it was made in, is for that one's request.
 */
#ifndef CTXPROP_RUNTIMES_NODE_CODE_BPF_H
#define CTXPROP_RUNTIMES_NODE_CODE_BPF_H

#include "runtimes/node/queue.bpf.h"
#include "runtimes/node/v8_await.bpf.h"

#define NODE_AROUND_MAX 4 /* contexts, one around the other */

/* The next words are those of an object, from a byte on. */
static __always_inline void node_take_words(struct node_search *search, __u64 object, __u32 at,
					    __u32 count)
{
	search->words = (struct node_words){.at = object - V8_TAG + at, .left = count};
}

/* How many parameters has a function, with `this`? */
static __always_inline __u32 node_parameters(const struct node_search *search, __u64 function)
{
	__u64 shared = v8_word(function, search->v8.shared);

	return (__u16)v8_word(shared, search->v8.parameters);
}

/* The bytes of a function's code, from `place` on, are next. Returns whether they can be. */
static __always_inline int node_take_code(struct node_search *search, __u64 function, __u32 place)
{
	__u64 bytecode = v8_bytecode(&search->v8, function);
	__u32 length = v8_number(v8_word(bytecode, V8_LENGTH));
	struct v8_code *code = &search->code;

	place = place > search->v8.code ? place : search->v8.code;
	length += search->v8.code - place;
	if (!search->v8.code || !bytecode || !length || length > V8_CODE_LENGTH_MAX)
		return 0;
	code->start = bytecode - V8_TAG + place;
	code->last = user_read(code->start + length - 1);
	code->pool = v8_word(bytecode, search->v8.pool);
	code->length = length < V8_CODE_MAX ? length : V8_CODE_MAX;
	code->loops = length > V8_CODE_MAX;
	code->makes = code->unsure = code->at = 0;
	code->saved = code->object = code->other = 0;
	code->method = (struct v8_method){};
	return !bpf_probe_read_user(code->byte, sizeof(code->byte), (const void *)code->start);
}

/* A function that has not begun is next. (By itself, as the next one: stacks are small.) */
VERIFIED_ALONE int node_take_function(struct node_search *search, __u64 function)
{
	if (!search || !node_take_code(search, function, 0))
		return 0;
	search->code.context = v8_word(function, search->v8.context);
	node_take_words(search, 0, 0, search->code.length);
	search->words.kind = NODE_CODE;
	search->words.end = search->end;
	return 0;
}

/* An async function that waits is next: what it has at hand, and then its code. */
VERIFIED_ALONE int node_take_async(struct node_search *search, __u64 object)
{
	__u64 function = v8_word(object, V8_ASYNC_FUNCTION);
	__u64 saved = v8_word(object, ASYNC_REGISTERS);
	__u32 count = v8_number(v8_word(saved, V8_LENGTH)), before;

	if (!search)
		return 0;
	before = node_parameters(search, function);
	before = before ? before - 1 : 0; /* without `this` */
	if (count < before ||
	    !node_take_code(search, function, v8_number(v8_word(object, V8_ASYNC_PLACE)) + V8_TAG))
		return 0;
	search->code.context = v8_word(object, ASYNC_CONTEXT);
	search->code.saved = saved;
	search->code.before = before;
	node_take_words(search, saved, V8_ELEMENTS + before * V8_WORD, count - before);
	search->words.kind = NODE_REGISTERS;
	search->words.end = search->end;
	return 0;
}

/* The context that a variable is in. */
static __always_inline __u64 node_context_of(const struct v8_code *code,
					     const struct v8_method *method)
{
	__u32 saved = code->before + (__u8)(method->register_0 - method->from);
	__u64 context = code->context;

	if (method->from != V8_CURRENT_CONTEXT)
		context =
		    method->register_0 ? v8_word(code->saved, V8_ELEMENTS + saved * V8_WORD) : 0;
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < NODE_AROUND_MAX; i++)
		if (i < method->up)
			context = v8_word(context, CONTEXT_PREVIOUS);
	return method->up <= NODE_AROUND_MAX ? context : 0;
}

/* What a variable is, if it was never assigned to; else 0. */
static __always_inline __u64 node_variable(const struct node_search *search,
					   const struct v8_method *method)
{
	__u64 context = node_context_of(&search->code, method);
	__u64 scope = v8_word(context, CONTEXT_SCOPE);
	__u32 length = v8_number(v8_word(context, V8_LENGTH));
	__u32 count = v8_number(v8_word(scope, SCOPE_LOCALS)), number;

	number = method->slot - (length - count);
	if (count > length || number >= count)
		return 0;
	if (v8_number(v8_word(scope, search->v8.locals + (count + number) * V8_WORD)) &
	    LOCAL_ASSIGNED)
		return 0;
	return v8_word(context, V8_ELEMENTS + method->slot * V8_WORD);
}

/* Is it the name of a method that responds? */
static __always_inline int node_name_responds(const struct v8_name_text *name)
{
	return V8_IS(name, "end") || V8_IS(name, "send") || V8_IS(name, "json") ||
	       V8_IS(name, "status") || V8_IS(name, "code") || V8_IS(name, "writeHead") ||
	       V8_IS(name, "sendStatus") || V8_IS(name, "redirect") || V8_IS(name, "render");
}

static __always_inline int node_method_responds(struct node_search *search,
						const struct v8_method *method)
{
	__u64 name = v8_word(search->code.pool, V8_ELEMENTS + method->name * V8_WORD);

	return v8_read_name(name, &search->name) && node_name_responds(&search->name);
}

/* It calls a method of a variable, which responds if that is a response. */
static __always_inline void node_look_at_method(struct node_search *search)
{
	struct v8_code *code = &search->code;
	__u64 object;

	if (!code->found.loaded || !node_method_responds(search, &code->found))
		return;
	object = node_variable(search, &code->found);
	if (!object)
		return;
	if (code->object && code->object != object)
		code->other = code->object;
	code->object = object;
	code->root = code->method = code->found;
}

/* The next byte. `res.status(200).json(...)` has a method of what another one has given back. */
static __always_inline void node_look_at_code(struct node_search *search)
{
	struct v8_code *code = &search->code;
	__u32 at = code->at++;

	search->words.left--;
	code->loops |= v8_code_loops(code, at);
	code->makes |= v8_code_makes(code, at);
	if (!v8_find_method(code, at))
		return;
	if (v8_is_called(code, at))
		code->method = code->found;
	else
		node_look_at_method(search);
}

/*
 * All was looked at: does it respond? A function that has not begun does if that is all that it
 * does, so that nobody waits for anything else that it begins. An async one that waits does later;
 * but in a loop, or where it makes functions, it may do so for others if it has objects of theirs.
 */
static __always_inline int node_code_responds(struct node_search *search)
{
	const struct v8_code *code = &search->code;
	__u32 more = code->loops || code->makes;

	if (!code->object || (code->saved && more && code->unsure))
		return 0;
	if (!code->saved &&
	    (more || !v8_begins_with(code, &code->root) || !v8_ends_with_method(code)))
		return 0;
	search->bare = 1;
	if (code->other)
		node_examine(search, code->other, 0);
	return node_examine(search, code->object, 0);
}

#endif
