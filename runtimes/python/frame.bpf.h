/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread of Python has at hand: the local variables of the functions that it is at. What it
 * took out of a queue is what it works on only while it has that there; else it may have laid it
 * by, and gone on with something else.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_FRAME_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_FRAME_BPF_H

#include "compat.bpf.h"
#include "engine/queue.h"
#include "runtimes/python/maps.bpf.h"
#include "runtimes/python/stack.bpf.h"

#define VARIABLES_AT_A_TIME 4
#define VARIABLES_MAX       64  /* of one function */
#define STEPS_MAX           512 /* each looks at so many variables, or goes on to the caller */
#define PYTHON_ARGUMENTS    4   /* that are looked at, of a job's function */
#define SERVES              1   /* added to the address of code: a rule about functions */
#define SERVES_MIN          16  /* calls and connects, until it is believed */

#define WORK_ITEM     0x6574496b726f575fULL /* "_WorkIte", as text */
#define WORK_ITEM_END 0x6dULL               /* "m" */
#define NONE_TYPE     0x65707954656e6f4eULL /* "NoneType" */

/* A walk over the variables of a thread, from the innermost function outwards. */
struct python_walk {
	__u64 frame;   /* of the function that it is at; 0: there are no more */
	__u64 at, end; /* variables of it that are left */
	__u64 called;  /* the frame before it */
	__u64 job;     /* the first function without what was taken, called by one that has it */
	__u64 request; /* that was taken out for */
	__u64 item;    /* an executor's, which is what counts then; 0: something else */
	__u64 serves;  /* that was read from an object which is there; 0: none yet */
	__u64 server;  /* the outermost function's frame that has such a one, of any request */
	__u32 tgid;
	__u8 has;     /* 1: it is there, */
	__u8 others;  /* 1: or what was taken out for others */
	__u8 several; /* 1: what requests were read from, and more than one */
	__u8 reserved;
};

static __always_inline __u64 python_type(__u64 object)
{
	return user_read(object + PYTHON_TYPE);
}

/* Is it of an executor (concurrent.futures)? These are done one by one. */
static __always_inline int is_of_executor(__u64 item)
{
	__u64 name = user_read(python_type(item) + PYTHON_TYPE_NAME);

	return user_read(name) == WORK_ITEM &&
	       (user_read(name + sizeof(__u64)) & 0xffff) == WORK_ITEM_END;
}

/*
 * None in a queue is neither work nor something to use: mostly it says that there is no more, and
 * who takes it out puts it back for the next one (executors that are shut down do).
 */
static __always_inline int python_is_none(__u64 object)
{
	return user_read(user_read(python_type(object) + PYTHON_TYPE_NAME)) == NONE_TYPE;
}

/* Is there but one such object, whatever it is used for? */
static __always_inline int python_is_single(__u64 object)
{
	return (user_read(python_type(object) + PYTHON_TYPE_FLAGS) & PYTHON_NUMBER) ||
	       python_is_none(object);
}

/* What was taken out is there. */
static __always_inline void python_found(struct python_walk *walk)
{
	if (!walk->has)
		walk->job = walk->called;
	walk->has = 1;
}

/* What an address was taken out of a queue for, as long as that is open; NULL: nothing. */
static __always_inline const struct object *python_object(__u32 tgid, __u64 address)
{
	struct process_address at = {.tgid = tgid, .address = address};
	const struct object *object;

	object = address < ADDRESSES_FROM ? NULL : object_lookup(&at);
	return object && request_standing(object->request) != STANDING_NONE ? object : NULL;
}

/*
 * Has a tuple or list still a part that was taken out with it? They are unpacked, mostly, and then
 * others are made in their place. (A function of its own: few are looked at.)
 */
VERIFIED_ALONE int python_row_is_whole(__u32 tgid, __u64 address, __u64 request, int is_list)
{
	__u64 parts = address + PYTHON_ITEMS, count = user_read(address + PYTHON_SIZE);
	const struct object *part;

	if (is_list)
		parts = user_read(parts);
	for (__u32 i = 0; i < PYTHON_PARTS; i++) {
		part = i < count ? python_object(tgid, user_read(parts + i * sizeof(__u64))) : NULL;
		if (part && part->request == request)
			return 1;
	}
	return 0;
}

/* What a request was read from. */
static __always_inline void python_look_at_reader(struct python_walk *walk,
						  const struct object *object)
{
	walk->server = walk->frame;
	if (object->request == walk->serves || request_standing(object->request) == STANDING_NONE)
		return;
	walk->several |= walk->serves || object->shared;
	walk->serves = object->request;
}

static __always_inline void python_look_at_item(struct python_walk *walk, __u64 word,
						const struct object *object)
{
	if (object->item != OBJECT_ITEM &&
	    !python_row_is_whole(walk->tgid, word, object->request, object->item == OBJECT_LIST))
		return;
	if (object->shared)
		return;
	if (object->request != walk->request)
		walk->others = 1;
	else if (!walk->item || walk->item == word)
		python_found(walk);
}

static __always_inline void python_look_at(struct python_walk *walk, __u64 word)
{
	struct process_address at = {.tgid = walk->tgid, .address = word};
	const struct object *object;

	object = word < ADDRESSES_FROM ? NULL : object_lookup(&at);
	if (!object)
		return;
	if (object->item == OBJECT_CONNECTION)
		python_look_at_reader(walk, object);
	else if (request_standing(object->request) != STANDING_NONE)
		python_look_at_item(walk, word, object);
}

/* Where the variables of a function end, which begin at `locals`. */
static __always_inline __u64 python_variables_end(const struct runtime_frames *frames, __u64 frame,
						  __u64 locals)
{
	__u64 count;

	if (!frames->owner) /* before 3.11 */
		return user_read(frame + frames->end);
	if (python_is_of_c(frames, frame))
		return locals;
	count = (__u32)user_read(user_read(frame + frames->code) + frames->variables);
	return locals + (count < VARIABLES_MAX ? count : VARIABLES_MAX) * sizeof(__u64);
}

static __always_inline int python_enter(struct python_walk *walk,
					const struct runtime_frames *frames, __u64 frame)
{
	walk->frame = frame;
	walk->at = frame + frames->locals;
	walk->end = frame ? python_variables_end(frames, frame, walk->at) : 0;
	return !frame;
}

/* On to the caller. Returns whether there is none. (Stacks are small, here and below.) */
VERIFIED_ALONE int python_leave(struct python_walk *walk)
{
	const struct runtime *runtime = walk ? runtime_lookup(walk->tgid) : NULL;

	if (!runtime)
		return 1;
	if (!python_is_of_c(&runtime->python.frames, walk->frame))
		walk->called = walk->frame;
	return python_enter(walk, &runtime->python.frames,
			    user_read(walk->frame + runtime->python.frames.before));
}

/* As a callback of bpf_loop(). */
static long python_step(__u32 index, struct python_walk *walk)
{
	__u64 words[VARIABLES_AT_A_TIME] = {};
	__u64 size = walk->end - walk->at;

	if (walk->at >= walk->end)
		return python_leave(walk) ? 1 : 0; /* nothing else may be returned */
	if (size > sizeof(words))
		size = sizeof(words);
	bpf_probe_read_user(words, size, (const void *)walk->at);
#pragma clang loop unroll(disable)
	for (int i = 0; i < VARIABLES_AT_A_TIME; i++)
		python_look_at(walk, words[i]);
	walk->at += sizeof(words);
	return 0;
}

/* Is something always the same, so that it cannot hold what is to be done? */
static __always_inline int python_is_plain(__u64 object)
{
	return (user_read(python_type(object) + PYTHON_TYPE_FLAGS) & PYTHON_PLAIN) != 0;
}

/*
 * Does a job that was given to an executor share an argument with one that another thread is at,
 * for another request? From now on it is this thread's.
 */
static __always_inline int python_argument_is_shared(const struct worker_key *key, __u64 object,
						     __u64 request)
{
	struct process_address at = {.tgid = key->tgid, .address = object};
	struct argument now = {.request = request, .tid = key->tid};
	const struct argument *old = argument_lookup(&at);
	struct worker_key other = {.tgid = key->tgid};
	const struct worker *w;
	int shared = 0;

	if (old && old->tid != key->tid && old->request != request &&
	    request_standing(old->request) != STANDING_NONE) {
		other.tid = old->tid;
		w = worker_lookup(&other);
		shared = w && (w->inherited == old->request || w->made_for == old->request);
	}
	if (ENGINE_LEARNS)
		argument_set(&at, &now);
	return shared;
}

/*
 * Does a job bring nothing along that tells it from others? It may go for whatever waits somewhere.
 * Functions without arguments do; those that are given objects which others use at the same time,
 * too; if they have ever been seen to, or not often enough not to.
 */
VERIFIED_ALONE int python_job_is_bare(__u32 tgid, __u64 frame, __u64 request)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	const struct runtime *runtime = runtime_lookup(tgid);
	__u64 code, free, at, fresh = 0;
	__u32 count;

	if (!runtime || !frame)
		return 0;
	code = user_read(frame + runtime->python.frames.code);
	free = user_read(code + runtime->python.frames.free);
	if (!runtime->python.frames.owner) /* a tuple with their names */
		free = user_read(free + PYTHON_SIZE);
	count = (__u32)user_read(code + runtime->python.frames.arguments) +
		(__u32)user_read(code + runtime->python.frames.keywords);
	if ((__u32)free || (user_read(code + runtime->python.frames.flags) & PYTHON_CODE_TAKES_ANY))
		return 0;
	at = frame + runtime->python.frames.locals;
	for (__u32 i = 0; i < PYTHON_ARGUMENTS; i++) {
		__u64 object = i < count ? user_read(at + i * sizeof(__u64)) : 0;

		if (object && python_is_plain(object))
			return 0;
		if (object && !python_argument_is_shared(&key, object, request))
			fresh = 1;
	}
	if (!count)
		return 1;
	rule_learn(tgid, code, fresh != 0);
	return rule_doubts(tgid, code);
}

/*
 * The current thread does not have what it took out of a queue for a request. If it should be
 * there, then it was stored: that queue says nothing any more.
 */
VERIFIED_ALONE int python_lays_by(__u32 tgid, __u64 queue, __u64 request)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	const struct python_taken *taken = python_taken_lookup(&key);
	struct process_address at = {.tgid = tgid, .address = queue};
	struct queued marked = {.request = QUEUED_NO_WORK};
	const struct object *object;

	for (int i = 0; taken && i <= PYTHON_PARTS; i++) {
		object = python_object(tgid, taken->object[i]);
		if (object && object->request == request && object->item == OBJECT_ITEM &&
		    !object->shared) {
			queued_set(&at, &marked);
			break;
		}
	}
	return 0;
}

/* Could an executor's job be for another request than the one that it was put in for? */
static __always_inline int python_is_doubtful(const struct python_walk *walk)
{
	__u32 tgid = walk->tgid;

	return walk->item && python_job_is_bare(tgid, walk->job, walk->request) &&
	       process_has_others(process_lookup(&tgid), request_standing(walk->request));
}

/*
 * The current thread calls, or puts something into a queue: what it took out of a queue before is
 * no longer what it works on if it does not have that, or has something of others. Returns whether
 * it has, or has taken nothing.
 */
VERIFIED_ALONE int python_holds(__u32 tgid)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	const struct runtime *runtime = runtime_lookup(tgid);
	struct worker *w = worker_lookup(&key);
	struct python_walk walk = {.tgid = tgid};

	if (!runtime || !w || !w->queue || !w->inherited || w->inherited_by != EVIDENCE_TASK)
		return 1;
	walk.request = w->inherited;
	walk.item = is_of_executor(w->item) ? w->item : 0;
	if (!python_enter(&walk, &runtime->python.frames, python_innermost(runtime)))
		bpf_loop(STEPS_MAX, python_step, &walk, 0);
	if (!walk.frame && walk.has && !walk.others && !python_is_doubtful(&walk))
		return 1;
	if (!ENGINE_LEARNS)
		return 0;
	if (!walk.frame && !walk.has && !walk.item)
		python_lays_by(tgid, w->queue, w->inherited);
	w->inherited = 0;
	queue_asked(w, &key, w->queue);
	return 0;
}

/* What a request is read from, at this address: two open ones tell nothing of it. */
static __always_inline void python_read_from(const struct process_address *at,
					     const struct object *old, __u64 request)
{
	struct object now = {.request = request};

	now.shared = old && (old->shared || request_standing(old->request) != STANDING_NONE);
	object_set(at, &now);
}

/* uvloop reads in no method of Python's: then it is the socket itself. */
VERIFIED_ALONE int python_reads_socket(__u32 tgid, __u64 request, __u64 socket)
{
	struct process_address at = {.tgid = tgid, .address = socket};

	python_read_from(&at, object_lookup(&at), request);
	return 0;
}

/*
 * A thread reads a request from a socket that does not block (or it did not before), in a method of
 * an object (the first variable of the function that it is at): that is the connection's, unless
 * two open requests are read from it.
 */
VERIFIED_ALONE int python_reads(__u32 tgid, __u64 request, int blocks)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	__u64 frame = runtime ? python_innermost(runtime) : 0, code;
	struct process_address at = {.tgid = tgid};
	const struct object *old;

	if (!runtime || !frame)
		return 0;
	code = user_read(frame + runtime->python.frames.code);
	at.address = user_read(frame + runtime->python.frames.locals);
	if (!(__u32)user_read(code + runtime->python.frames.arguments) ||
	    at.address < ADDRESSES_FROM || python_is_plain(at.address))
		return 0;
	old = object_lookup(&at);
	if (old ? old->item != OBJECT_CONNECTION : blocks)
		return 0;
	python_read_from(&at, old, request);
	return 0;
}

/*
 * Does a function that has a connection serve what was read from it? It may go on, or begin, when
 * that is over, and the next request has been read: not if it was seen often to call while one was
 * open, and never else.
 */
static __always_inline int python_is_server(__u32 tgid, __u64 rule)
{
	const struct start *seen = start_lookup(tgid, rule);

	return seen && seen->ended >= SERVES_MIN && !seen->outlived;
}

/*
 * The request that the current thread serves, which another one has read: the object that it was
 * read from is a variable of a function that the thread is at. 0: there is none, or several, or it
 * is not certain that the outermost of these functions serves it.
 */
VERIFIED_ALONE __u64 python_serves(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct python_walk walk = {.tgid = tgid};
	__u64 rule;

	if (!runtime || python_enter(&walk, &runtime->python.frames, python_innermost(runtime)))
		return 0;
	bpf_loop(STEPS_MAX, python_step, &walk, 0);
	if (walk.frame || !walk.server)
		return 0;
	rule = user_read(walk.server + runtime->python.frames.code) + SERVES;
	rule_learn(tgid, rule, walk.serves != 0);
	return !walk.several && python_is_server(tgid, rule) ? walk.serves : 0;
}

/*
 * What the current thread takes out of a queue for a request: the number `place` of `taken`, which
 * is the item, or one of its parts.
 */
static __always_inline void python_keep(const struct worker_key *key, struct python_taken *taken,
					__u32 place, __u64 address, struct object now)
{
	struct process_address at = {.tgid = key->tgid, .address = address};

	now.request = taken->request;
	now.tid = key->tid;
	taken->object[place] = address;
	object_set(&at, &now);
}

/* Is it something that a thread has taken out for another request, and may be at? */
static __always_inline int python_is_shared(__u32 tgid, __u64 address, __u64 request)
{
	const struct object *old = python_object(tgid, address);

	return old && old->request != request;
}

/* The parts of a tuple or list. It is made for each message, mostly: are they all shared? */
static __always_inline int python_keep_parts(const struct worker_key *key,
					     struct python_taken *taken, __u64 parts, __u64 count)
{
	int all_shared = 1;

	for (__u32 i = 0; i < PYTHON_PARTS; i++) {
		__u64 part = i < count ? user_read(parts + i * sizeof(__u64)) : 0;
		struct object now = {.item = OBJECT_ITEM};

		if (!part || python_is_single(part))
			continue;
		now.shared = python_is_shared(key->tgid, part, taken->request);
		python_keep(key, taken, i + 1, part, now);
		all_shared &= now.shared;
	}
	return all_shared;
}

/* What the current thread has taken out before this, it is done with. */
VERIFIED_ALONE int python_forget_taken(__u32 tgid)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct python_taken *taken = python_taken_lookup(&key);
	struct process_address at = {.tgid = tgid};
	const struct object *object;

	for (int i = 0; taken && i <= PYTHON_PARTS; i++) {
		at.address = taken->object[i];
		taken->object[i] = 0;
		object = at.address ? object_lookup(&at) : NULL;
		if (object && object->request == taken->request && object->tid == key.tid)
			object_delete(&at);
	}
	return 0;
}

/* The current thread has taken out an item for a request. Numbers and the like say nothing. */
VERIFIED_ALONE int python_keep_item(__u32 tgid, __u64 item, __u64 request)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct python_taken taken = {.request = request};
	__u64 flags = user_read(python_type(item) + PYTHON_TYPE_FLAGS), parts, size;
	struct object now = {.item = flags & PYTHON_TUPLE  ? OBJECT_TUPLE
				     : flags & PYTHON_LIST ? OBJECT_LIST
							   : OBJECT_ITEM};

	python_forget_taken(tgid);
	if (python_is_single(item))
		return 0;
	parts = now.item == OBJECT_LIST ? user_read(item + PYTHON_ITEMS) : item + PYTHON_ITEMS;
	size = user_read(item + PYTHON_SIZE);
	if (now.item != OBJECT_ITEM)
		now.shared = python_keep_parts(&key, &taken, parts, size);
	else
		now.shared = !is_of_executor(item) && python_is_shared(tgid, item, request);
	python_keep(&key, &taken, 0, item, now);
	python_taken_set(&key, &taken);
	return 0;
}

/* It asks for the next: has it done something about the last one, or is there no more to it? */
static __always_inline void python_asks(const struct worker *w, __u32 tgid, __u64 queue)
{
	if (w->queue == queue && ((w->flags & WORKER_CALLED) || is_of_executor(w->item)))
		python_forget_taken(tgid);
}

#endif
