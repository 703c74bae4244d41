/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits of threads that work on a request: blocked until they are woken, then on the run queue
 * until they run again. Each wait is two records: PROFILE_WAIT with the stack when the thread
 * leaves its CPU, PROFILE_WAITED with the times when it is back. Loaded only if it is asked for.
 *
 * Everything here runs in the scheduler, under the lock of a run queue: nothing may be allocated,
 * since that may wake a thread, which takes such a lock. So open waits are in a preallocated table
 * by thread, not in task storage. sched_wakeup is used, which fires when the thread is on a run
 * queue, and so after the sched_switch by which it went to sleep; sched_waking may fire before.
 *
 * Some kernels do not trace every switch. The scheduler's own account of how long the thread has
 * run shows it: if it has grown since the wait began, the wait had ended before.
 */
#ifndef CTXPROP_PROFILE_OFFCPU_BPF_H
#define CTXPROP_PROFILE_OFFCPU_BPF_H

#include <stdbool.h>
#include <bpf/bpf_tracing.h>

#include "profile/take.bpf.h"

#define SWITCH_DEAD  0x80  /* TASK_DEAD of the kernel: the thread never comes back */
#define WAITING_SIZE 16384 /* a power of two */

/* An open wait of a thread. */
struct wait {
	__u64 began_ns;    /* CLOCK_BOOTTIME */
	__u64 runnable_ns; /* since when it waits for a CPU; 0: it is blocked */
	__u64 request;     /* for which it waits, as the engine knows; or 0: */
	__u64 span;        /* that of others' traces_ctx_v1 */
	__u64 ran_ns;      /* what the thread has run in its life */
};

struct sched_entity___run {
	__u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct task_struct___run {
	struct sched_entity___run se;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACES_CTX_MAX);
	__type(key, __u32); /* tid */
	__type(value, struct wait);
} profile_waits SEC(".maps");

/*
 * How many threads wait, by the last bits of their ids: where that is 0 the table need not be
 * searched. The numbers may be too high, never too low.
 */
__u32 waiting[WAITING_SIZE];

__u64 waits_left_out; /* their length is not known, or the thread had another request afterwards */

static __always_inline __u64 ran_ns(const struct task_struct *task)
{
	return ((const struct task_struct___run *)task)->se.sum_exec_runtime;
}

static __always_inline const struct traces_ctx *context_of(const struct task_struct *task)
{
	__u64 thread = traces_ctx_key(task->tgid, task->pid);

	return bpf_map_lookup_elem(&traces_ctx_v1, &thread);
}

static __always_inline struct wait *wait_of(__u32 tid)
{
	if (!waiting[tid & (WAITING_SIZE - 1)])
		return NULL;
	return bpf_map_lookup_elem(&profile_waits, &tid);
}

/* Note the begin of a wait. Returns 0, or -1 if there is no room (counted). */
static __always_inline int wait_add(__u32 tid, struct wait wait)
{
	if (bpf_map_update_elem(&profile_waits, &tid, &wait, BPF_ANY)) {
		__sync_fetch_and_add(&waits_left_out, 1);
		return -1;
	}
	__sync_fetch_and_add(&waiting[tid & (WAITING_SIZE - 1)], 1);
	return 0;
}

static __always_inline void wait_remove(__u32 tid)
{
	if (!bpf_map_delete_elem(&profile_waits, &tid))
		__sync_fetch_and_add(&waiting[tid & (WAITING_SIZE - 1)], -1);
}

/* Is the request for which a thread has waited still open? */
static __always_inline bool wait_is_for(const struct task_struct *task, const struct wait *wait)
{
	const struct traces_ctx *context;

	if (wait->request)
		return request_standing(wait->request) != STANDING_NONE;
	context = context_of(task);
	return context && traces_ctx_span(context) == wait->span;
}

/* A wait is over: it counts for the request for which it began, unless that has ended. */
static __always_inline void wait_tell(const struct task_struct *task, const struct wait *wait,
				      __u64 end_ns)
{
	const __u64 runnable_ns = wait->runnable_ns ?: end_ns;
	struct profile_sample *s;
	__u32 zero = 0;

	if (!wait_is_for(task, wait) || end_ns < runnable_ns) {
		__sync_fetch_and_add(&waits_left_out, 1);
		return;
	}
	s = bpf_map_lookup_elem(&profile_scratch, &zero);
	if (!s || end_ns >= until_ns)
		return;
	clear_stack(s);
	s->kind = PROFILE_WAITED;
	s->time_ns = wait->began_ns;
	s->tgid = task->tgid;
	s->tid = task->pid;
	s->waited_ns[PROFILE_BLOCKED] = runnable_ns - wait->began_ns;
	s->waited_ns[PROFILE_RUN_QUEUE] = end_ns - runnable_ns;
	hand_over(s);
}

/* The thread runs again. If it has run since the wait began, the real end was not seen. */
static __always_inline void wait_ends(const struct task_struct *task, const struct wait *wait)
{
	if (ran_ns(task) == wait->ran_ns)
		wait_tell(task, wait, bpf_ktime_get_boot_ns());
	else
		__sync_fetch_and_add(&waits_left_out, 1);
	wait_remove(task->pid);
}

/* The current thread leaves its CPU: note time, request and stack. */
static __always_inline void wait_begins(void *ctx, const struct task_struct *task,
					const struct work_told *told, __u64 span, bool runnable)
{
	const __u64 thread = bpf_get_current_pid_tgid(), now_ns = bpf_ktime_get_boot_ns();
	const __u64 ran = ran_ns(task);
	const struct wait *unseen = wait_of(task->pid);
	const struct profile_thread_data *data;
	struct user_registers user;
	struct profile_sample *s;

	if (now_ns >= until_ns || !is_wanted(thread))
		return;
	if (unseen) {
		wait_tell(task, unseen, now_ns - (ran - unseen->ran_ns));
		wait_remove(task->pid);
	}
	s = begin_record(PROFILE_WAIT, thread, now_ns);
	if (!s)
		return;
	if (wait_add(task->pid, (struct wait){.began_ns = now_ns,
					      .ran_ns = ran,
					      .runnable_ns = runnable ? now_ns : 0,
					      .request = told->request,
					      .span = span}))
		return;
	data = context_data(s);
	context_take(s, data, told);
	take_kernel(ctx, s);
	registers_of_kernel(&user);
	take_user(s, &user);
	context_labels(s, data);
	hand_over(s);
}

/* The same, if it works on a request. `told`: what the engine says of it. */
static __noinline int goes_off(void *ctx, const struct work_told *told, bool runnable)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct traces_ctx *others = told->serves ? NULL : context_of(task);

	if (told->request || others)
		wait_begins(ctx, task, told, others ? traces_ctx_span(others) : 0, runnable);
	return 0;
}

static __noinline int goes_on(const struct task_struct *task)
{
	const struct wait *wait = wait_of(task->pid);

	if (wait)
		wait_ends(task, wait);
	return 0;
}

/*
 * May a thread work on a request? Most threads are of processes without requests, for which this is
 * one look-up: while a daemon follows requests, what programs publish themselves is not read here.
 */
static __always_inline bool may_wait_for_request(const struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (!task->mm)
		return false;
	return has_engine ? process_lookup(&tgid) != NULL : context_of(task) != NULL;
}

/* Kernel threads and idle CPUs have no memory of their own, and no context. */
SEC("tp_btf/sched_switch")
int BPF_PROG(profile_switch, bool preempted, struct task_struct *from, struct task_struct *to,
	     unsigned int state)
{
	const struct work_told *told;

	if (may_wait_for_request(from) && !(state & SWITCH_DEAD)) {
		told = take_told();
		if (told)
			goes_off(ctx, told, preempted || !state);
	}
	if (wait_of(to->pid))
		goes_on(to);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(profile_wakeup, struct task_struct *woken)
{
	struct wait *wait = wait_of(woken->pid);

	if (wait && !wait->runnable_ns)
		wait->runnable_ns = bpf_ktime_get_boot_ns();
	return 0;
}

#endif
