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
#ifndef CTXPROP_PROBES_NODE_SEARCH_BPF_H
#define CTXPROP_PROBES_NODE_SEARCH_BPF_H

#include "probes/node_socket.bpf.h"
#include "probes/v8_await.bpf.h"

#define NODE_QUEUE         128    /* objects that are looked at; a power of two */
#define NODE_SEEN          64     /* a power of two */
#define NODE_STEPS         512    /* words and objects that are looked at */
#define NODE_EMITTER       0xffff /* in place of a type: who tells others */
#define NODE_PROCESS       0xfffe /* what fetch() calls with the response */
#define NODE_WORDS_MAX     64     /* of what tells others: functions, and names */
#define NODE_LOCALS_MAX    32     /* variables of a function */
#define NODE_ARGUMENTS_MAX 8      /* with which it was called */

/* Words of objects, beside those that v8.bpf.h has. */
enum node_field {
	BOUND_FUNCTION = 24,
	BOUND_THIS = 32,
	PROMISE_REACTIONS = 24,
	REACTION_FIRST = 8, /* the next one; or, since V8 12, something of the embedder's before */
	REACTION_FULFILLED = 16, /* from the next one on */
	REACTION_PROMISE = 24,
	CAPABILITY_PROMISE = 8,
	ASYNC_REGISTERS = 72, /* with what it was called first */
	ASYNC_PROMISE = 80,
	CONTEXT_SCOPE = 16,
	CONTEXT_PREVIOUS = 24,
	CONTEXT_SLOTS = 32,
	SCOPE_LOCALS = 24, /* how many */
};

/* What is known of a variable: may it be assigned to, which parameter is it? */
#define LOCAL_ASSIGNED        (1U << 5)
#define LOCAL_PARAMETER_SHIFT 6
#define LOCAL_NO_PARAMETER    0xffff
#define CONTEXT_OWN           4 /* slots of contexts of V8's own functions, at most */
#define CONTEXT_FIXED         2 /* of all contexts, before these */

/* What words may lead on. */
enum node_words_kind {
	NODE_ANYTHING,  /* all that does */
	NODE_VARIABLES, /* requests; and functions, but not what may be shared with others */
	NODE_ARGUMENTS, /* requests only */
	NODE_RESPONSE,  /* of a dictionary: what stands behind this name */
	NODE_PROMISES,  /* objects for promises */
};

/* Words that are looked at one after the other. */
struct node_words {
	__u64 at;
	__u64 known;   /* what is known of each: of variables */
	__u64 context; /* whose variables they are */
	__u64 next;    /* what is looked at then, if no request was among them */
	__u32 left;
	__u32 end; /* of the queue, before */
	__u8 kind; /* enum node_words_kind */
	__u8 hits; /* 1: a request was among them */
	__u8 over; /* 1: that was done */
	__u8 reserved[5];
};

/* An object to look at. */
struct node_next {
	__u64 object;
	__u32 type;
	__u32 reserved;
};

struct node_search {
	struct node_next queue[NODE_QUEUE];
	__u64 seen[NODE_SEEN];
	struct v8_look look;
	struct node_handle call;
	struct node_words words;
	union { /* (stacks are small) */
		__u64 chunk[USER_CHUNK];
		struct v8_name_text name;
	};
	struct runtime_v8 v8;
	__u64 message; /* the call's object */
	__u64 found;   /* an open request that waits */
	__u32 first, end;
	__u32 several; /* 1: others wait, too, or there is too much */
	__u32 busy;    /* 1: a search is under way */
};

/* One search at a time on each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct node_search);
} node_searches __weak SEC(".maps");

static __always_inline int node_is_context(const struct node_search *search, __u32 type)
{
	return type >= search->v8.contexts_first && type <= search->v8.contexts_last;
}

/* Does an object of this type lead on? */
static __always_inline int node_leads(const struct node_search *search, __u32 type)
{
	const struct runtime_v8 *v8 = &search->v8;

	return type == v8->function || type == v8->bound || type == v8->promise ||
	       type == v8->reaction || type == v8->capability || type == v8->async ||
	       type == v8->array || node_is_context(search, type);
}

static __always_inline __u32 node_type(struct node_search *search, __u64 object)
{
	return v8_type_of(&search->look, object);
}

/* Look at an object later. */
static __always_inline void node_queue(struct node_search *search, __u64 object, __u32 type)
{
	if (search->end >= NODE_QUEUE) {
		search->several = 1;
		return;
	}
	search->queue[search->end++ & (NODE_QUEUE - 1)] =
	    (struct node_next){.object = object, .type = type};
}

/* The same, unless it was looked at, or does not lead on. */
VERIFIED_ALONE int node_push(struct node_search *search, __u64 object)
{
	__u64 *seen;
	__u32 type;

	if (!search || !v8_is_object(object))
		return 0;
	seen = &search->seen[(object >> 3) & (NODE_SEEN - 1)];
	if (*seen == object)
		return 0;
	*seen = object;
	type = node_type(search, object);
	if (!node_leads(search, type))
		return 0;
	node_queue(search, object, type);
	return 0;
}

static __always_inline void node_push_word(struct node_search *search, __u64 object, __u32 at)
{
	node_push(search, v8_word(object, at));
}

/*
 * Is this a request or response, or (`whole`: 0) something that a framework has made of both?
 * Returns whether it is.
 */
VERIFIED_ALONE int node_examine(struct node_search *search, __u64 object, int whole)
{
	__u64 request = 0, made_of = object;

	if (!search || node_type(search, object) != search->v8.object)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 which = V8_REQ; !request && which <= V8_RAW + 1; which++) {
		request = node_request_of(&search->look, &search->call, made_of);
		made_of = whole ? 0 : v8_property(&search->look, object, which);
	}
	if (!request)
		return 0;
	search->several |= search->found && search->found != request;
	search->found = request;
	return 1;
}

/* The next words are those of an object, from a byte on. */
static __always_inline void node_take_words(struct node_search *search, __u64 object, __u32 at,
					    __u32 count)
{
	search->words = (struct node_words){.at = object - V8_TAG + at, .left = count};
}

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
	else
		node_look_at_argument(search, word);
}

/* All were looked at. Who has found a request need not look who is behind it. */
static __always_inline void node_end_words(struct node_search *search)
{
	struct node_words *words = &search->words;

	words->over = 1;
	if (words->hits) {
		search->end = words->end;
		return;
	}
	node_push(search, words->next);
}

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

/* How many parameters has a function, with `this`? */
static __always_inline __u32 node_parameters(const struct node_search *search, __u64 function)
{
	__u64 shared = v8_word(function, search->v8.shared);

	return (__u16)v8_word(shared, search->v8.parameters);
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

/*
 * Something is to be done when a promise is settled. What does not take the answer may be somebody
 * else's turn, who has waited for the end of this one, as may whoever waits for that.
 */
static __always_inline void node_look_at_reaction(struct node_search *search, __u64 object)
{
	__u64 next = v8_word(object, REACTION_FIRST), function;

	if (next && node_type(search, next) != search->v8.reaction) {
		object += V8_WORD;
		next = v8_word(object, REACTION_FIRST);
	}
	function = v8_word(object, REACTION_FIRST + REACTION_FULFILLED);
	node_push(search, next);
	if (node_type(search, function) == search->v8.function &&
	    node_is_own_function(search, function) && node_parameters(search, function) == 1)
		return;
	node_push(search, function);
	node_push_word(search, object, REACTION_FIRST + REACTION_PROMISE);
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
	else if (type == NODE_PROCESS)
		node_look_at_process(search, object);
	else if (node_is_context(search, type))
		node_look_at_context(search, object);
	return 0;
}

/* As a callback of bpf_loop(), which only takes what is on the stack. */
static long node_step(__u32 index, struct node_search **on_stack)
{
	struct node_search *search = *on_stack;
	const struct node_next *next;

	if (search->words.left && search->words.kind == NODE_ANYTHING) {
		node_look_at_words(search);
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

/* In place of a request: all was looked at, and nobody was found. */
#define NODE_NOBODY (~0ULL)
/* The same, of undici, which may send before fetch() has given back a promise to wait for. */
#define NODE_NOBODY_YET (~1ULL)

static __always_inline void node_begin(struct node_search *search, const struct runtime_v8 *v8,
				       __u32 tgid)
{
	search->v8 = *v8;
	search->found = 0;
	search->first = search->end = search->several = 0;
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

static __always_inline __u64 node_search(struct node_search *search, const struct runtime *runtime,
					 const struct process_address *socket)
{
	__u64 events = node_find_call(search, runtime, socket);

	if (!events)
		return 0;
	node_look_at_told(search, events);
	if (search->several)
		return 0;
	if (search->found)
		return search->found;
	return v8_is_object(search->message) ? NODE_NOBODY : NODE_NOBODY_YET;
}

/*
 * The request for which the current thread, of a program of Node, begins a call with this socket of
 * the kernel's; NODE_NOBODY or NODE_NOBODY_YET; 0: it cannot be told.
 */
VERIFIED_ALONE __u64 node_calls(const struct runtime *runtime, const struct process_address *socket)
{
	struct node_search *search;
	__u64 request = 0;
	__u32 zero = 0;

	if (!runtime || !runtime->node.v8.object)
		return 0;
	search = bpf_map_lookup_elem(&node_searches, &zero);
	if (!search || search->busy)
		return 0; /* functions, where they are the hooks, may be interrupted by others */
	search->busy = 1;
	request = node_search(search, runtime, socket);
	search->busy = 0;
	return request;
}

#endif
