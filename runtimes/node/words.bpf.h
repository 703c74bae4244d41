/* SPDX-License-Identifier: GPL-2.0-only */
/* What words of objects lead to: variables of functions, arguments, names. */
#ifndef CTXPROP_RUNTIMES_NODE_WORDS_BPF_H
#define CTXPROP_RUNTIMES_NODE_WORDS_BPF_H

#include "runtimes/node/code.bpf.h"

#define NODE_WORDS_MAX 64 /* of what tells others: functions, and names */

/* All of an array, or a dictionary. */
static __always_inline void node_take_elements(struct node_search *search, __u64 elements)
{
	__u32 length = v8_number(v8_word(elements, V8_LENGTH));

	node_take_words(search, elements, V8_ELEMENTS,
			length < NODE_WORDS_MAX ? length : NODE_WORDS_MAX);
}

/* A function that is a variable. It says nothing new if it was made where that is. */
static __always_inline void node_look_at_function(struct node_search *search, __u64 function,
						  __u32 bits)
{
	if (v8_word(function, search->v8.context) == search->words.context)
		return;
	search->words.next = 0;
	if (!(bits & LOCAL_ASSIGNED))
		node_push(search, function);
}

/* Does an object make this call for others, and tells them (the package follow-redirects)? */
static __always_inline void node_push_emitter(struct node_search *search, __u64 object)
{
	__u64 events;

	if (!v8_is_object(search->message) ||
	    v8_property(&search->look, object, V8_CURRENT) != search->message)
		return;
	events = v8_property(&search->look, object, V8_EVENTS);
	if (v8_is_object(events))
		node_queue(search, events, NODE_EMITTER);
}

/*
 * What a function was given (a parameter) may be what a framework has made of a request. If there
 * is any other object it may be somebody else's: then those around the function do not count.
 */
static __always_inline void node_look_at_variable(struct node_search *search, __u64 word,
						  __u32 bits)
{
	__u32 type = node_type(search, word);

	if (type < search->v8.object)
		return;
	if (!(bits & LOCAL_ASSIGNED) &&
	    node_examine(search, word, bits >> LOCAL_PARAMETER_SHIFT == LOCAL_NO_PARAMETER))
		search->words.hits = 1;
	else if (type == search->v8.function)
		node_look_at_function(search, word, bits);
	else
		search->words.next = 0;
	if (type == search->v8.object && !search->words.hits && !(bits & LOCAL_ASSIGNED))
		node_push_emitter(search, word);
}

/* Of what leads anywhere, several at a time. */
static __always_inline void node_look_at_words(struct node_search *search)
{
	struct node_words *words = &search->words;
	__u32 count = words->left < USER_CHUNK ? words->left : USER_CHUNK;

	words->left -= count;
	if (!user_chunk(&words->at, ~0ULL, search->chunk))
		return;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < USER_CHUNK && i < count; i++)
		node_push(search, search->chunk[i]);
}

/* Is this a name, "response"? Then who is told stands behind it. */
static __always_inline void node_look_at_name(struct node_search *search, __u64 word)
{
	if (v8_read_name(word, &search->name) && V8_IS(&search->name, "response"))
		node_push(search, user_read(search->words.at));
}

/* With what an async function was called: fetch() has what it is to do with a response in an
 * object. */
static __always_inline void node_look_at_argument(struct node_search *search, __u64 word)
{
	__u64 process;

	if (node_examine(search, word, 0)) {
		search->words.hits = 1;
		return;
	}
	process = v8_property(&search->look, word, V8_PROCESS);
	if (process && node_type(search, process) == search->v8.function)
		node_queue(search, process, NODE_PROCESS);
}

/* An async function has this object at hand, of which is not known whose it is. */
static __always_inline void node_look_at_register(struct node_search *search, __u64 word)
{
	__u32 type = node_type(search, word);

	search->code.unsure |=
	    type == search->v8.object || type == search->v8.array || type == search->v8.function;
}

static __always_inline void node_look_at_word(struct node_search *search)
{
	struct node_words *words = &search->words;
	__u64 word = user_read(words->at);
	__u32 bits = words->known ? v8_number(user_read(words->known)) : 0;

	words->left--;
	words->at += V8_WORD;
	words->known += V8_WORD;
	if (words->kind == NODE_VARIABLES)
		node_look_at_variable(search, word, bits);
	else if (words->kind == NODE_RESPONSE)
		node_look_at_name(search, word);
	else if (words->kind == NODE_PROMISES)
		node_push(search, v8_property(&search->look, word, V8_RESOLVE));
	else if (words->kind == NODE_REGISTERS)
		node_look_at_register(search, word);
	else
		node_look_at_argument(search, word);
}

/* What an async function was called with says nothing: its code may. */
static __always_inline void node_keep_async(struct node_search *search)
{
	if (search->asyncs < NODE_ASYNCS)
		search->async[search->asyncs++ & (NODE_ASYNCS - 1)] = search->words.context;
}

/* All were looked at. Who has found a request need not look who is behind it. */
static __always_inline void node_end_words(struct node_search *search)
{
	struct node_words *words = &search->words;

	if (words->kind == NODE_REGISTERS) {
		words->kind = NODE_CODE;
		words->left = search->code.length;
		return;
	}
	if (words->kind == NODE_CODE)
		words->hits = node_code_responds(search);
	else if (words->kind == NODE_ARGUMENTS && !words->hits)
		node_keep_async(search);
	words->over = 1;
	if (words->hits) {
		search->end = words->end;
		return;
	}
	node_push(search, words->next);
}

#endif
