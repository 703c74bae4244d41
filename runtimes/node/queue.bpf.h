/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a search (node_search.bpf.h) has still to look at: objects, and words of one of them. Of
 * each object that is looked at it is found out whether it is a request.
 */
#ifndef CTXPROP_RUNTIMES_NODE_QUEUE_BPF_H
#define CTXPROP_RUNTIMES_NODE_QUEUE_BPF_H

#include "runtimes/node/socket.bpf.h"
#include "runtimes/node/v8_method.bpf.h"

#define NODE_QUEUE   128    /* objects that are looked at; a power of two */
#define NODE_SEEN    64     /* a power of two */
#define NODE_EMITTER 0xffff /* in place of a type: who tells others */
#define NODE_PROCESS 0xfffe /* what fetch() calls with the response */
#define NODE_BARE    0xfffd /* an async function whose code is looked at */
#define NODE_ASYNCS  4      /* so many are, the nearest ones; a power of two */

/* What is known of a variable: may it be assigned to, which parameter is it? */
#define LOCAL_ASSIGNED        (1U << 5)
#define LOCAL_PARAMETER_SHIFT 6
#define LOCAL_NO_PARAMETER    0xffff

/* Words of objects, beside those that v8.bpf.h has. */
enum node_field {
	BOUND_FUNCTION = 24,
	BOUND_THIS = 32,
	PROMISE_REACTIONS = 24,
	REACTION_FIRST = 8, /* the next one; or, since V8 12, something of the embedder's before */
	REACTION_FULFILLED = 16, /* from the next one on */
	REACTION_PROMISE = 24,
	CAPABILITY_PROMISE = 8,
	ASYNC_CONTEXT = 32,
	ASYNC_REGISTERS = 72, /* with what it was called first */
	ASYNC_PROMISE = 80,
	CONTEXT_SCOPE = 16,
	CONTEXT_PREVIOUS = 24,
	CONTEXT_SLOTS = 32,
	SCOPE_LOCALS = 24, /* how many */
};

/* What words may lead on. */
enum node_words_kind {
	NODE_ANYTHING,  /* all that does */
	NODE_VARIABLES, /* requests; and functions, but not what may be shared with others */
	NODE_ARGUMENTS, /* requests only */
	NODE_RESPONSE,  /* of a dictionary: what stands behind this name */
	NODE_PROMISES,  /* objects for promises */
	NODE_REGISTERS, /* of an async function: nothing, but they may say that it is for others */
	NODE_CODE,      /* no words, but bytes of a function's code */
};

/* Words that are looked at one after the other. */
struct node_words {
	__u64 at;
	__u64 known;   /* what is known of each: of variables */
	__u64 context; /* whose variables they are; or the async function */
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
	struct v8_code code;
	union { /* (stacks are small) */
		__u64 chunk[USER_CHUNK];
		struct v8_name_text name;
	};
	struct runtime_v8 v8;
	__u64 message;            /* the call's object */
	__u64 async[NODE_ASYNCS]; /* async functions that were called with no request */
	__u32 asyncs;
	__u64 found; /* an open request that waits */
	__u32 first, end;
	__u32 several; /* 1: others wait, too, or there is too much */
	__u8 bare;     /* 1: it was found by what a function does, not by what it was called with */
	__u8 reacts;   /* 1: functions of the program's are called with the answer */
	__u8 shared;   /* 1: another one waits beside a function without parameters */
	__u8 reserved[5];
};

/*
 * The one of each thread of Node that has called, made with its first call. (Where functions are
 * the hooks, another thread may take the CPU in the midst of a search, and search, too: nothing may
 * be kept by CPU.)
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
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

#endif
