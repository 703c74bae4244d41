// SPDX-License-Identifier: GPL-2.0-only
/* The life of threads and processes, and who wakes whom. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "probes/kernel.bpf.h"
#include "probes/probe.bpf.h"
#include "probes/step.bpf.h"
#include "probes/syscall.bpf.h"

/* Does a process do its work on threads? Where a runtime moves it about, they mean nothing. */
static __always_inline int works_on_threads(const struct runtime *runtime, __u32 tgid)
{
	return runtime_works_by(runtime, tgid) == RUNTIME_WORKER_THREAD;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(probe_fork, struct task_struct *parent, struct task_struct *child)
{
	struct worker_key key = {.tgid = child->tgid, .tid = child->pid};
	const struct runtime *runtime;
	__u32 tgid = parent->tgid;
	struct actor a;

	if (key.tgid != tgid && probe_is_active())
		runtime_inherit(tgid, key.tgid);
	if (!process_lookup(&tgid))
		return 0;
	runtime = runtime_lookup(tgid);
	if (!works_on_threads(runtime, tgid) || !probe_is_active())
		return 0;
	if (key.tgid == tgid && hook_thread_made(runtime, child))
		return 0;
	worker_handing_over(&a, runtime);
	if (key.tgid == tgid)
		hook_thread_made_by(&a, runtime);
	step_hand_over(&a, &key, EVIDENCE_FORK);
	return 0;
}

/* One worker, as a map has it: does it go with its process? */
static long worker_leaves(void *map, struct worker_key *key, struct worker *w, __u32 *tgid)
{
	struct worker_key own = *key;

	if (own.tgid != *tgid || own.tid)
		return 0;
	worker_unpublish(w, &own);
	worker_delete_entry(&own);
	return 0;
}

/*
 * A process becomes another program, or ends. Goroutines and the like have no end of their own: so
 * who has any left has them looked for.
 */
VERIFIED_ALONE int process_ends(__u32 tgid)
{
	const struct process *p = process_lookup(&tgid);

	if (p && p->workers.taken)
		bpf_for_each_map_elem(&workers, worker_leaves, &tgid, 0);
	share_is_left(tgid);
	process_delete(tgid);
	runtime_forget(tgid);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(probe_exit, struct task_struct *task)
{
	struct worker_key key = {.tgid = task->tgid, .tid = task->pid};

	if (!probe_is_active())
		return 0;
	engine_exit(&key);
	if (task->signal->live.counter <= 0)
		process_ends(task->tgid);
	return 0;
}

/*
 * What the process was found to run is no longer true. A thread that is not the first one becomes
 * it: the others are over, and so is its old id.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(probe_exec, struct task_struct *task, int old_tid)
{
	struct worker_key old = {.tgid = task->tgid, .tid = old_tid};
	struct worker_key now = {.tgid = task->tgid, .tid = task->pid};

	if (!probe_is_active())
		return 0;
	engine_exec(&old, &now);
	process_ends(now.tgid);
	return 0;
}

/* The current thread wakes another one of its process, which would have gone on without it, too. */
static __always_inline void wake_another(const struct runtime *runtime, struct task_struct *woken,
					 enum futex_wait waits)
{
	if (waits == FUTEX_WAIT_TIMED)
		hook_timed_sleeper_woken(runtime, woken->tgid);
	else
		hook_loop_woken(runtime, woken);
}

/*
 * Only between threads of a process that has to do with requests, and only out of a sleep that
 * nothing but another thread ends: everything else leaves at the first comparisons.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(probe_wake, struct task_struct *woken)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct worker_key key = {.tgid = woken->tgid, .tid = woken->pid};
	const struct runtime *runtime;
	enum futex_wait waits;
	struct actor a;
	int tells;

	if (key.tgid != id >> 32 || key.tid == (__u32)id || !process_lookup(&key.tgid))
		return 0;
	runtime = runtime_lookup(key.tgid);
	if (!works_on_threads(runtime, key.tgid))
		return 0;
	tells = hook_thread_woken(runtime, woken);
	waits = syscall_waits(woken);
	if (waits != FUTEX_WAIT_EVER) {
		wake_another(runtime, woken, waits);
		return 0;
	}
	if (!probe_is_active())
		return 0;
	hook_sleeper_woken(runtime, key.tgid);
	worker_handing_over(&a, runtime);
	a.tells = tells;
	step_hand_over(&a, &key, EVIDENCE_WAKE);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
