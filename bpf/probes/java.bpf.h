/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which request a thread of Java works on that has read none itself: that of the thread which
 * waits for what it does. Who waits for a future (FutureTask.get) has it as what it is parked for
 * (Thread.parkBlocker), and the future has the thread that is at work on it (FutureTask.runner).
 */
#ifndef CTXPROP_PROBES_JAVA_BPF_H
#define CTXPROP_PROBES_JAVA_BPF_H

#include "compat.bpf.h"
#include "context/maps.bpf.h"
#include "context/runtime.bpf.h"
#include "context/standing.h"
#include "probes/tls.bpf.h"
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
	__u64 block = tls_block(native, user_read(java->slot));

	return block ? user_read(block + java->variable) : 0;
}

/* The object that a thread is to programs, in 32 bits; 0: it cannot be told. */
static __always_inline __u32 java_object(const struct runtime_java *java, __u64 thread)
{
	__u64 object = user_read(user_read(thread + java->object));

	return object > java->heap ? (object - java->heap) >> java->heap_shift : 0;
}

static __always_inline __u64 java_address(const struct runtime_java *java, __u32 object)
{
	return java->heap + ((__u64)object << java->heap_shift);
}

/* The current thread has read a request: it may have others work for it. */
static __always_inline void java_reads(const struct runtime *runtime, __u32 tgid)
{
	struct java_readers *readers = bpf_map_lookup_elem(&java_readers, &tgid);
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), zero = 0;
	struct java_reader *reader;
	const void *blank;

	if (!readers) {
		blank = bpf_map_lookup_elem(&blank_readers, &zero);
		if (blank)
			bpf_map_update_elem(&java_readers, &tgid, blank, BPF_NOEXIST);
		readers = bpf_map_lookup_elem(&java_readers, &tgid);
	}
	if (!readers)
		return;
	reader = &readers->reader[tid & (JAVA_READERS - 1)];
	reader->native = user_thread_pointer();
	reader->thread = java_thread_of(&runtime->java, reader->native);
	reader->tid = tid;
}

/* A search for who waits for the current thread. */
struct java_search {
	const struct runtime *runtime;
	const struct java_readers *readers;
	__u64 found;
	__u32 tgid, object; /* of the current thread */
	__u32 several;
	__u32 reserved;
};

/* Does a thread wait for a future that the thread of this object is at work on? */
static __always_inline int java_waits_for(const struct runtime_java *java,
					  const struct java_reader *reader, __u32 object)
{
	__u64 thread, future;
	__u32 waiting;

	if (java_thread_of(java, reader->native) != reader->thread)
		return 0;
	waiting = java_object(java, reader->thread);
	if (!waiting || waiting == object)
		return 0;
	thread = java_address(java, waiting);
	future = java_address(java, user_read_narrow(thread + java->blocker));
	return user_read_narrow(future + java->class) == java->future_class &&
	       user_read_narrow(future + java->runner) == object;
}

/* As a callback of bpf_loop(). */
static long java_search_step(__u32 index, struct java_search *search)
{
	const struct java_reader *reader = &search->readers->reader[index & (JAVA_READERS - 1)];
	struct worker_key key = {.tgid = search->tgid, .tid = reader->tid};
	const struct worker *w = reader->tid ? worker_lookup(&key) : NULL;
	/* What a loop waits for may be for anything, or of its own accord. */
	__u64 request = w && !(w->flags & WORKER_LOOP) ? worker_only(w) : 0;

	if (!request || !java_waits_for(&search->runtime->java, reader, search->object))
		return 0;
	search->several |= search->found && search->found != request;
	search->found = request;
	return 0;
}

/* The request of the thread that waits for the current one; 0: none, or it cannot be told. */
VERIFIED_ALONE __u64 java_works_on(__u32 tgid)
{
	struct java_search search = {.tgid = tgid, .runtime = runtime_lookup(tgid)};

	search.readers = bpf_map_lookup_elem(&java_readers, &tgid);
	if (!search.runtime || !search.runtime->java.future_class || !search.readers)
		return 0;
	search.object = java_object(&search.runtime->java,
				    java_thread_of(&search.runtime->java, user_thread_pointer()));
	if (!search.object)
		return 0;
	bpf_loop(JAVA_READERS, java_search_step, &search, 0);
	return search.several ? 0 : search.found;
}

#endif
