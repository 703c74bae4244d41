// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the current thread works on stands in traces_ctx_v1 while a profiler of others takes a
 * sample of it: from the begin of the clock's interrupt until its end, and so at no other time. A
 * software clock of perf is a timer, whose tracepoints come right before and right behind the
 * profiler's program. (Of the counters of a CPU, which interrupt by NMI, nothing tells.)
 *
 * Attached while others read the map; without a clock that has a program it only compares.
 */
#define ENGINE_ASKS
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "probes/ask.bpf.h"
#include "record/trace_readers.h"

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

/* The sample that a CPU takes. Interrupts are off until it is over: there is one at a time. */
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
__u64 moments_met;                          /* samples of others, whatever they were of */

/* Is it a program of ours? */
static __always_inline bool is_own(__u32 id)
{
	for (int i = 0; i < TRACE_READERS_SAMPLERS; i++)
		if (own_samplers[i] == id)
			return true;
	return false;
}

/*
 * Can it be an address of the kernel, which has those of `timer`? Of x86-64 they are sign-extended
 * from 48 bits, or from 57. To read at others is safe, but makes kernels warn.
 */
static __always_inline bool is_address(const void *value, const void *timer)
{
	return (__u64)timer >> 48 == 0xffff ? (__u64)value >> 47 == 0x1ffff
					    : (__u64)value >> 56 == 0xff;
}

/*
 * Does a timer belong to a perf event whose samples a program of others takes? In place of what is
 * no perf event stands anything, but nothing that leads to a program and back.
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

/* The current thread is shown with what was told, if that is a request. */
static __always_inline void moment_show(struct moment *m, __u64 timer, __u64 thread)
{
	if (!m->asked.told.request || !traces_add(thread, &m->asked.told.shown))
		return;
	m->thread = thread;
	m->timer = timer;
}

/* Is there something to be shown that is not yet? */
static __always_inline bool thread_lacks_context(__u64 thread)
{
	__u32 tgid = thread >> 32;
	const struct runtime *runtime = runtime_lookup(tgid);

	return thread && process_lookup(&tgid) && !traces_lookup(thread) &&
	       (!runtime || runtime_is_told_at_samples(runtime->kind));
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

/* It is over, and what was shown, unless the thread was given work meanwhile that stays. */
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
