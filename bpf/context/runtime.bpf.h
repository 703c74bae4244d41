/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of context/runtime.h, and how an entry of `runtimes` comes and goes. */
#ifndef CTXPROP_CONTEXT_RUNTIME_BPF_H
#define CTXPROP_CONTEXT_RUNTIME_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "compat.bpf.h"
#include "context/later.h"
#include "context/maps.bpf.h"
#include "context/worker.h"
#include "context/runtime.h"

#define CTXPROP_RUNTIMES_MAX   8192 /* processes that have taken a request, or may soon */
#define CTXPROP_GOROUTINES_MAX 8192
#define CTXPROP_MESSAGES_MAX   8192
#define CTXPROP_GO_SOCKETS_MAX 4096
#define CTXPROP_STARTS_MAX     4096
#define CTXPROP_TASKS_MAX      8192
#define CTXPROP_WRITTEN_MAX    8192 /* sockets */
#define CTXPROP_STREAMS_MAX    16384
#define CTXPROP_OBJECTS_MAX    8192
#define CTXPROP_RUBY_MAX       4096 /* threads of Ruby */
#define CTXPROP_SHAPES_MAX     4096
#define CTXPROP_PURPOSES_MAX   8192
#define CTXPROP_LATERS_MAX     256  /* threads of Node that leave calls for later */
#define CTXPROP_JAVAS_MAX      128  /* processes of Java that take requests */
#define CTXPROP_HELD_MAX       4096 /* threads of Java that do so from sockets that do not block */
#define CTXPROP_BEGUN_MAX      4096 /* calls that threads of Java have begun */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_RUNTIMES_MAX);
	__type(key, __u32);
	__type(value, struct runtime);
} runtimes __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_GOROUTINES_MAX);
	__type(key, struct worker_key);
	__type(value, struct goroutine);
} goroutines __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_GOROUTINES_MAX);
	__type(key, struct process_address);
	__type(value, struct round_trip);
} round_trips __weak SEC(".maps");

/* By the address of a place in the buffer of a channel: for which request its message was sent. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_MESSAGES_MAX);
	__type(key, struct process_address);
	__type(value, struct named);
} messages __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_GO_SOCKETS_MAX);
	__type(key, __u64);
	__type(value, struct go_socket);
} go_sockets __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_STARTS_MAX);
	__type(key, struct process_address);
	__type(value, struct start);
} starts __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_TASKS_MAX);
	__type(key, struct worker_key);
	__type(value, struct task);
} tasks __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_TASKS_MAX);
	__type(key, struct process_address);
	__type(value, struct queued);
} queued __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_TASKS_MAX);
	__type(key, struct worker_key);
	__type(value, struct python_taken);
} python_taken __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_TASKS_MAX);
	__type(key, struct process_address);
	__type(value, struct argument);
} arguments __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_WRITTEN_MAX);
	__type(key, __u64);
	__type(value, struct written);
} written __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_STREAMS_MAX);
	__type(key, struct worker_key);
	__type(value, struct stream);
} streams __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_OBJECTS_MAX);
	__type(key, struct process_address);
	__type(value, struct object);
} objects __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_RUBY_MAX);
	__type(key, struct process_address);
	__type(value, struct ruby_thread);
} ruby_threads __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_SHAPES_MAX);
	__type(key, struct process_address);
	__type(value, struct v8_shape);
} v8_shapes __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_OBJECTS_MAX);
	__type(key, struct process_address);
	__type(value, struct ruby_queue);
} ruby_queues __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_OBJECTS_MAX);
	__type(key, struct ruby_place);
	__type(value, struct ruby_item);
} ruby_places __weak SEC(".maps");

/* Zeros: what a new entry starts from, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ruby_thread);
} blank_ruby_thread __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_JAVAS_MAX);
	__type(key, __u32); /* tgid */
	__type(value, struct java_readers);
} java_readers __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_HELD_MAX);
	__type(key, struct process_address);
	__type(value, struct java_held);
} java_held __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_BEGUN_MAX);
	__type(key, struct process_address);
	__type(value, struct java_begun);
} java_begun __weak SEC(".maps");

/* By libuv's handle: connections that Node begins to open, until it knows the address. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_PURPOSES_MAX);
	__type(key, struct process_address);
	__type(value, struct purpose);
} purposes __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_LATERS_MAX);
	__type(key, __u64); /* process and thread */
	__type(value, struct later);
} laters __weak SEC(".maps");

/* By libuv's struct uv__work: the request for which a loop has given it to other threads. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_PURPOSES_MAX);
	__type(key, struct process_address);
	__type(value, __u64);
} works __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_LATERS_MAX);
	__type(key, __u64); /* process and thread */
	__type(value, struct work);
} work_done __weak SEC(".maps");

/* Zeros again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct later);
} blank_later __weak SEC(".maps");

/* And again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct java_readers);
} blank_readers __weak SEC(".maps");

static __always_inline struct runtime *runtime_lookup(__u32 tgid)
{
	return bpf_map_lookup_elem(&runtimes, &tgid);
}

static __always_inline void runtime_tell(__u32 tgid)
{
	events_tell(tgid, RUNTIME_EVENT_LOOK);
}

/* Ask user space what this process runs, unless it was asked already, or cannot hear it now. */
VERIFIED_ALONE int runtime_wanted(__u32 tgid)
{
	struct runtime asked = {.kind = RUNTIME_WANTED};

	if (runtime_lookup(tgid))
		return 0;
	if (bpf_map_update_elem(&runtimes, &tgid, &asked, BPF_NOEXIST))
		share_is_reached(0, SHARE_RUNTIMES);
	else if (events_tell(tgid, RUNTIME_EVENT_LOOK))
		bpf_map_delete_elem(&runtimes, &tgid);
	return 0;
}

/* Is there room for one more process that has read no request? Then it is counted as such. */
static __always_inline int listeners_add(__u32 tgid)
{
	__u32 one = 1;

	if (!bpf_map_update_elem(&listeners, &tgid, &one, BPF_ANY))
		return 1;
	share_is_reached(0, SHARE_LISTENERS);
	return 0;
}

/* A process listens: what it runs should be known before it serves. */
VERIFIED_ALONE int runtime_listens(__u32 tgid)
{
	if (!runtime_lookup(tgid) && listeners_add(tgid))
		runtime_wanted(tgid);
	return 0;
}

/* The process `made` runs what its maker does, at the same addresses. */
static __always_inline void runtime_copy(const struct runtime *runtime, __u32 made)
{
	if (runtime->kind == RUNTIME_WANTED)
		runtime_wanted(made);
	else
		bpf_map_update_elem(&runtimes, &made, runtime, BPF_ANY);
}

/* A process is made: it runs what its maker does, until it says otherwise. */
VERIFIED_ALONE int runtime_inherit(__u32 maker, __u32 made)
{
	const struct runtime *runtime = runtime_lookup(maker);

	if (runtime && listeners_add(made))
		runtime_copy(runtime, made);
	return 0;
}

/* A call was made of which nothing is known: was work handed over for it in some other way? */
static __always_inline void runtime_suspects_pool(__u32 tgid)
{
	struct runtime *runtime = bpf_map_lookup_elem(&runtimes, &tgid);

	if (runtime && !(__sync_fetch_and_or(&runtime->flags, RUNTIME_POOLS) & RUNTIME_POOLS))
		runtime_tell(tgid);
}

/* Is there nothing more to be found in the virtual machine of Java? */
static __always_inline int runtime_has_classes(const struct runtime_java *java)
{
	return java->future_class && java->waiter && java->channel_class &&
	       java->client.exchange_class && java->client.signaller_class;
}

/*
 * A call was made by a thread that has read no request. Classes of Java are loaded when they are
 * used first: they are looked for again, ever more seldom.
 */
static __always_inline void runtime_lacks_classes(__u32 tgid)
{
	struct runtime *runtime = bpf_map_lookup_elem(&runtimes, &tgid);
	__u64 second = bpf_ktime_get_ns() >> RUNTIME_CHANGES_SECOND;

	if (!runtime || runtime_has_classes(&runtime->java) || second < runtime->second)
		return;
	runtime->second = second + (1ULL << (runtime->changes & RUNTIME_LOOKS_MAX));
	runtime->changes += runtime->changes < RUNTIME_LOOKS_MAX;
	runtime_tell(tgid);
}

/* A goroutine is put on a thread: may that be published? Too many a second are too dear. */
static __always_inline int runtime_shows(__u32 tgid)
{
	struct runtime *runtime = bpf_map_lookup_elem(&runtimes, &tgid);
	__u64 second = bpf_ktime_get_ns() >> RUNTIME_CHANGES_SECOND;

	if (!runtime || !(runtime->flags & RUNTIME_SHOWN))
		return 0;
	if (runtime->second != second) {
		runtime->second = second;
		runtime->changes = 0;
	}
	if (__sync_fetch_and_add(&runtime->changes, 1) < RUNTIME_CHANGES_MAX ||
	    (runtime->flags & RUNTIME_ALWAYS))
		return 1;
	__sync_fetch_and_and(&runtime->flags, ~RUNTIME_SHOWN);
	if (!(__sync_fetch_and_or(&runtime->flags, RUNTIME_COSTLY) & RUNTIME_COSTLY))
		runtime_tell(tgid);
	return 0;
}

/*
 * What the maps of runtimes have of a process that is gone goes with it: user space is asked once,
 * until it has come round to that.
 */
static __always_inline void runtime_leaves(__u32 tgid)
{
	__u32 zero = 0, *asked = bpf_map_lookup_elem(&sweep_asked, &zero);

	if (asked && !__sync_fetch_and_or(asked, 1) && events_tell(tgid, RUNTIME_EVENT_GONE))
		*asked = 0;
}

/* The process has become another program, or is gone. */
static __always_inline void runtime_forget(__u32 tgid)
{
	struct process_address rule = {.tgid = tgid};
	int idle = !bpf_map_delete_elem(&listeners, &tgid);

	if (bpf_map_delete_elem(&runtimes, &tgid) || idle)
		return;
#pragma clang loop unroll(full) /* the verifier of 6.1 does not count what lies on the stack */
	for (int i = 1; i < TASK_RULE_END; i++) {
		rule.address = (__u64)i;
		bpf_map_delete_elem(&starts, &rule);
	}
	runtime_leaves(tgid);
}

#endif
