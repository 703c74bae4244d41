/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads and objects of Java, and which threads have read requests. */
#ifndef CTXPROP_RUNTIMES_JAVA_THREAD_STATE_BPF_H
#define CTXPROP_RUNTIMES_JAVA_THREAD_STATE_BPF_H

#include "compat.bpf.h"
#include "engine/maps.bpf.h"
#include "runtimes/java/maps.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "engine/standing.h"
#include "probes/tls.bpf.h"
#include "probes/turn.bpf.h"
#include "probes/user.bpf.h"

static __always_inline __u32 user_read_narrow(__u64 address)
{
	__u32 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (const void *)address);
	return value;
}

/* The JavaThread that the thread with this pointer is; 0: none, or none any more. */
static __always_inline __u64 java_thread_of(const struct runtime_java *java, __u64 native)
{
	__u64 module = java->slot ? user_read(java->slot) : 0;
	__u64 block = module ? tls_block(native, module) : 0;

	return block ? user_read(block + java->variable) : 0;
}

/* An address as objects have it, in 32 bits; 0: it is none of an object. */
static __always_inline __u32 java_narrow(const struct runtime_java *java, __u64 object)
{
	return object > java->heap ? (object - java->heap) >> java->heap_shift : 0;
}

static __always_inline __u64 java_address(const struct runtime_java *java, __u32 object)
{
	return java->heap + ((__u64)object << java->heap_shift);
}

/* The object that a thread is to programs; 0: it cannot be told. */
static __always_inline __u64 java_object(const struct runtime_java *java, __u64 thread)
{
	return user_read(user_read(thread + java->object));
}

/* The object of the virtual thread that runs on a thread; 0: none does. */
static __always_inline __u64 java_virtual_object(const struct runtime_java *java, __u64 thread)
{
	__u64 object = java->virtual_object && thread
			   ? user_read(user_read(thread + java->virtual_object))
			   : 0;

	return object == java_object(java, thread) ? 0 : object;
}

/* Put the virtual thread of this object in place of a goroutine. Returns whether it is one. */
static __always_inline int java_virtual_key(const struct runtime_java *java, __u64 object,
					    struct worker_key *key)
{
	__u64 number = object ? user_read(object + java->number) : 0;

	if (!number || user_read(object + java->native))
		return 0;
	key->tid = 0;
	key->context = JAVA_VIRTUAL | number;
	return 1;
}

/* The object that this one refers to at an offset; 0: none. */
static __always_inline __u64 java_refers(const struct runtime_java *java, __u64 object,
					 __u16 offset)
{
	__u32 other = object ? user_read_narrow(object + offset) : 0;

	return other ? java_address(java, other) : 0;
}

static __always_inline __u32 java_class(const struct runtime_java *java, __u64 object)
{
	return object ? user_read_narrow(object + java->class) : 0;
}

/*
 * Is the client socket `sk`, on which a thread begins a call, one of a client that has threads of
 * its own, and so may have a list of calls? That is one which epoll watches, in another set than
 * what the thread has read from last. (Virtual threads have epoll watch what they wait for.)
 *
 * Not inlined, for the room on the stack.
 */
static __noinline int java_has_list(const struct worker_key *key, const struct sock *sk)
{
	__u64 set = turn_set((__u64)sk);
	const struct worker *w;
	struct worker_key by;
	__u64 item;

	if (!key || !set || key->context)
		return 0;
	by = *key;
	w = worker_lookup(&by);
	item = w ? w->turn.item : 0;
	return !item || (__u64)KERNEL_FIELD(struct epitem, item, ep) != set;
}

/* The current thread has read a request: it may have others work for it. */
static __always_inline void java_reads(const struct runtime *runtime, __u32 tgid)
{
	struct java_readers *readers = java_readers_lookup(&tgid);
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), zero = 0;
	struct java_reader *reader;
	const void *blank;

	if (!readers) {
		blank = blank_readers_lookup(&zero);
		if (blank)
			java_readers_add(&tgid, blank);
		readers = java_readers_lookup(&tgid);
	}
	if (!readers)
		return;
	reader = &readers->reader[tid & (JAVA_READERS - 1)];
	reader->native = user_thread_pointer();
	reader->thread = java_thread_of(&runtime->java, reader->native);
	reader->buffer = user_read(reader->thread + runtime->java.buffer_start);
	reader->used = user_read(reader->thread + runtime->java.buffer_top);
	reader->tid = tid;
}

/* The future that the thread of this object waits for, if it is a FutureTask; 0: it is none. */
static __always_inline __u64 java_awaits(const struct runtime_java *java, __u64 thread)
{
	__u64 future = java_refers(java, thread, java->blocker);

	return java->future_class && java_class(java, future) == java->future_class ? future : 0;
}

/* Is a FutureTask, which nobody is at work on, one that nobody has begun? It has what to call. */
static __always_inline int java_is_to_run(const struct runtime_java *java, __u64 future)
{
	return java->callable && java_refers(java, future, java->callable);
}

/* May a request of this standing begin a call now? */
static __always_inline int standing_may_call(enum standing standing)
{
	return standing == STANDING_IDLE || standing == STANDING_ANSWERED ||
	       standing == STANDING_CONNECTING;
}

/* How many of a process may. */
static __always_inline __u32 process_may_call(__u32 tgid)
{
	const struct process *p = process_lookup(&tgid);

	return p ? tally_of(&p->tally, STANDING_IDLE) + tally_of(&p->tally, STANDING_ANSWERED) +
		       tally_of(&p->tally, STANDING_CONNECTING)
		 : 0;
}

/* Where objects stand. */
struct java_made {
	__u64 from, to;
};

/* Those that a thread has made since it has read its request. Its buffer tells, for a while. */
static __always_inline struct java_made java_made_by(const struct runtime_java *java,
						     const struct java_reader *reader)
{
	struct java_made made = {.from = user_read(reader->thread + java->buffer_start),
				 .to = user_read(reader->thread + java->buffer_top)};

	if (made.from == reader->buffer)
		made.from = reader->used;
	return made;
}

/*
 * 1: the object stands there. The signs of two differences tell, which are right for addresses of
 * programs: the verifier would follow both ways of each comparison.
 */
static __always_inline int java_is_among(const struct java_made *made, __u64 object)
{
	return (~(object - made->from) & (object - made->to)) >> 63;
}

#endif
