/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Node: what it leaves for later in a turn. Node's numbers and libuv's counts are read from the
 * memory of the process (x86-64), and held against what they have to be.
 */
#ifndef CTXPROP_RUNTIMES_NODE_LATER_BPF_H
#define CTXPROP_RUNTIMES_NODE_LATER_BPF_H

#include "compat.bpf.h"
#include "probes/decide.bpf.h"
#include "runtimes/node/later.h"
#include "engine/maps.bpf.h"
#include "runtimes/node/maps.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "probes/user.bpf.h"

/* Where things stand in structs of libuv 1. */
#define LIBUV_HANDLE_LOOP   8  /* uv_handle_t.loop */
#define LIBUV_LOOP_INTERNAL 40 /* uv_loop_t.internal_fields */
#define LIBUV_COUNTS        8  /* ...loop_metrics.metrics, since 1.45 */

/*
 * node::AsyncHooks.async_id_fields_ is an AliasedBuffer: an isolate, a size, an offset, and the
 * address. It stands behind the handle of the check phase, in the same object.
 */
#define LATER_SEARCHED 256 /* words; it is at the 94th in Node 18 to 24 */
#define LATER_NUMBERS  4
#define LATER_NO_ID    0xbff0000000000000ULL /* -1.0 */

struct later_buffer {
	__u64 isolate, count, offset, numbers;
};

/* AsyncHooks::UidFields */
struct later_numbers {
	struct later_running now;
	__u64 last, preset;
};

static __always_inline struct later *later_of_thread(void)
{
	__u64 thread = bpf_get_current_pid_tgid();

	return laters_lookup(&thread);
}

static __always_inline struct later *later_make(void)
{
	__u64 thread = bpf_get_current_pid_tgid();
	__u32 zero = 0;
	const void *blank = blank_later_lookup(&zero);

	if (blank)
		laters_set(&thread, blank);
	return laters_lookup(&thread);
}

/* Between two phases of a loop nothing runs, but something was made before. */
static __always_inline int later_are_numbers(__u64 address, struct later_numbers *ret_numbers)
{
	if (!address ||
	    bpf_probe_read_user(ret_numbers, sizeof(*ret_numbers), (const void *)address))
		return 0;
	return !ret_numbers->now.runs && !ret_numbers->now.maker && ret_numbers->last &&
	       !(ret_numbers->last >> 63) && ret_numbers->preset == LATER_NO_ID;
}

/* Look for the numbers and the counts, once. */
VERIFIED_ALONE int later_search(struct later *l, __u64 handle)
{
	struct later_numbers numbers;
	struct later_buffer buffer;
	__u64 loop;

	if (!l)
		return 0;
	loop = user_read(handle + LIBUV_HANDLE_LOOP);
	l->handle = handle;
	l->turns = 0;
	l->counts = user_read(loop + LIBUV_LOOP_INTERNAL) + LIBUV_COUNTS;
	l->numbers = 0;
	for (__u64 i = 0; i < LATER_SEARCHED; i++) {
		if (bpf_probe_read_user(&buffer, sizeof(buffer), (const void *)(handle + i * 8)))
			break;
		if (buffer.count != LATER_NUMBERS || buffer.offset || !buffer.isolate)
			continue;
		if (!later_are_numbers(buffer.numbers, &numbers))
			continue;
		l->numbers = buffer.numbers;
		break;
	}
	return 0;
}

/* A loop has read everything in this turn; the handle of its check phase is at this address. */
static __always_inline void later_checks(struct later *l, __u64 handle)
{
	struct later_numbers numbers;
	struct later_counts counts;

	if (l->handle != handle || (l->numbers && !later_are_numbers(l->numbers, &numbers)))
		later_search(l, handle);
	if (!later_are_numbers(l->numbers, &numbers) ||
	    bpf_probe_read_user(&counts, sizeof(counts), (const void *)l->counts)) {
		l->count = 0;
		return;
	}
	later_is_over(l, &counts, numbers.last);
}

static __always_inline int worker_leaves_for_later(const struct worker *w)
{
	return w && (w->flags & WORKER_LATER);
}

/* The last number that was given. */
static __always_inline __u64 later_number(const struct later *l)
{
	return user_read(l->numbers + __builtin_offsetof(struct later_numbers, last));
}

/* The thread, whose entry this is, has read something. Returns whether it leaves things for later.
 */
VERIFIED_ALONE int later_reads(const struct worker *w)
{
	struct later *l;

	if (!w)
		return 0;
	l = later_of_thread();
	if (!l || !l->numbers)
		return 0;
	later_reads_now(l, w, later_number(l));
	return 1;
}

/* The current thread, which leaves things for later, sends bytes of the response to a request. */
VERIFIED_ALONE int later_responds(__u64 request)
{
	__u64 now = bpf_get_current_pid_tgid();
	struct worker_key thread = {.tgid = now >> 32, .tid = (__u32)now};
	struct worker *w = worker_lookup(&thread);
	struct later *l = later_of_thread();

	if (w && l && turn_goes_on(&w->turn))
		later_learns(l, w, request);
	return 0;
}

/* The thread has accepted a connection. What comes of that is of no request that it has read. */
static __always_inline void later_accepts(struct later *l, const struct worker *w)
{
	struct later_reading now = {.number = later_number(l)};

	later_read(l, &now, LATER_ACCEPTED, w->flags);
}

/* Where among the readings of the turn was that asked for which the thread does? LATER_UNTOLD... */
VERIFIED_ALONE int later_where(struct later *l)
{
	struct later_running now;

	if (!l || bpf_probe_read_user(&now, sizeof(now), (const void *)l->numbers))
		return LATER_UNTOLD;
	return later_find_running(l, &now);
}

/*
 * What Node does beside what it has read: more is known of it, once it has left calls for later.
 * Returns the enum actor_phase, which is none of those that mean more here.
 */
VERIFIED_ALONE int later_phase(const struct worker_key *thread, __u32 phase)
{
	struct worker_key key;
	struct worker *w;
	struct later *l;

	if (!thread)
		return PHASE_UNTOLD;
	key = *thread;
	w = worker_lookup(&key);
	l = later_of_thread();
	if (phase == PHASE_ACCEPTS) {
		if (l && w && l->numbers)
			later_accepts(l, w);
		return PHASE_APART;
	}
	return l && w && l->numbers ? later_asks(l, w, process_lookup(&key.tgid), later_where(l))
				    : phase;
}

#endif
