// SPDX-License-Identifier: GPL-2.0-only
/*
 * Publishes in traces_ctx_v1 what the current thread works on while somebody else's profiler takes
 * a sample of it: from the begin of the timer interrupt to its end, and at no other time. A
 * software clock of perf is an hrtimer, whose tracepoints fire right before and right behind the
 * profiler's program. (Hardware counters interrupt by NMI, and have no tracepoints.)
 *
 * Attached while others read the map; for timers without such a program it only compares.
 */
#define ENGINE_ASKS
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "probes/ask.bpf.h"
#include "record/trace_readers.h"
#include "runtimes/told.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hrtimer___kernel {
	void *function;
};

struct bpf_prog_aux {
	__u32 id;
	struct bpf_prog *prog; /* whose it is */
};

struct bpf_prog {
	enum bpf_prog_type type;
	struct bpf_prog_aux *aux;
};

struct hw_perf_event {
	struct hrtimer___kernel hrtimer; /* of a software clock */
};

struct perf_event {
	struct hw_perf_event hw;
	struct bpf_prog *prog; /* that runs with each sample */
};

#pragma clang attribute pop

/* The sample that a CPU is taking: one at a time, since interrupts are off. */
struct moment {
	__u64 timer;  /* 0: none is taken, or nothing is shown for it */
	__u64 thread; /* that is shown; as traces_ctx_key() */
	struct work_asked asked;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct moment);
} moments SEC(".maps");

__u32 own_samplers[TRACE_READERS_SAMPLERS]; /* ids; 0: none. Of more than these a sample is asked
					       for twice */
__u64 moments_met; /* samples of other profilers, with or without a request */

/* Is it one of our own programs? */
static __always_inline bool is_own(__u32 id)
{
	for (int i = 0; i < TRACE_READERS_SAMPLERS; i++)
		if (own_samplers[i] == id)
			return true;
	return false;
}

/*
 * Can it be an address of the kernel, as `timer` is one? On x86-64 these are sign-extended from 48
 * or 57 bits. Reading at any other address is safe, but makes the kernel warn.
 */
static __always_inline bool is_address(const void *value, const void *timer)
{
	return (__u64)timer >> 48 == 0xffff ? (__u64)value >> 47 == 0x1ffff
					    : (__u64)value >> 56 == 0xff;
}

/*
 * Does a timer belong to a perf event to which somebody else's program is attached? What is around
 * a timer of another kind may be anything, but does not point to a program that points back.
 */
static __always_inline bool is_sample(const void *timer)
{
	const struct perf_event *event =
	    timer - bpf_core_field_offset(struct perf_event, hw.hrtimer);
	const struct bpf_prog *program = BPF_CORE_READ(event, prog);
	const struct bpf_prog_aux *aux;

	if (!is_address(program, timer))
		return false;
	aux = BPF_CORE_READ(program, aux);
	return is_address(aux, timer) && BPF_CORE_READ(aux, prog) == program &&
	       BPF_CORE_READ(program, type) == BPF_PROG_TYPE_PERF_EVENT &&
	       !is_own(BPF_CORE_READ(aux, id));
}

static __always_inline struct moment *moment_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&moments, &zero);
}

/* Publish what the engine has told of the current thread, if that is a request. */
static __always_inline void moment_show(struct moment *m, __u64 timer, __u64 thread)
{
	if (!m->asked.told.request || !traces_add(thread, &m->asked.told.shown))
		return;
	m->thread = thread;
	m->timer = timer;
}

/* Is there a request to be published that is not published yet? */
static __always_inline bool thread_lacks_context(__u64 thread)
{
	__u32 tgid = thread >> 32;
	const struct runtime *runtime = runtime_lookup(tgid);

	return thread && process_lookup(&tgid) && !traces_lookup(thread) &&
	       (!runtime || hook_told_at_samples(runtime));
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(moment_begins, void *timer)
{
	const __u64 thread = bpf_get_current_pid_tgid();
	struct moment *m;

	if (!is_sample(timer))
		return 0;
	__sync_fetch_and_add(&moments_met, 1);
	m = moment_of_cpu();
	if (!m || !thread_lacks_context(thread))
		return 0;
	work_ask(&m->asked);
	moment_show(m, (__u64)timer, thread);
	return 0;
}

/* The sample is over: take the entry out, unless a probe has published another one meanwhile. */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(moment_ends, void *timer)
{
	struct moment *m = moment_of_cpu();
	struct worker_key key;

	if (!m || m->timer != (__u64)timer)
		return 0;
	m->timer = 0;
	key = thread_now();
	if (!thread_is_shown(&key))
		traces_unset(m->thread);
	return 0;
}
