// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tasks and greenlets of Python work on is shown for their thread from where they go on until
 * where they wait again, and what threads do for tasks. Attached to the modules _asyncio and
 * _greenlet, and to the interpreter, of programs that take requests, while somebody reads
 * (RUNTIME_SHOWN). These programs only ask: an object of their own.
 */
#define ENGINE_ASKS
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>

#include "probes/show.bpf.h"
#include "runtimes/python/maps.bpf.h"
#include "runtimes/python/thread.bpf.h"
#include "runtimes/python/uprobe.bpf.h"
#include "runtimes/python/worker.bpf.h"
#include "runtimes/shown.bpf.h"

/* The process, if its tasks and greenlets are followed and shown; NULL: it is not. */
static __always_inline const struct runtime *shown_now(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	if (!runtime || runtime->kind != RUNTIME_PYTHON || !(runtime->flags & RUNTIME_TASKS))
		return NULL;
	return runtime_shows(tgid) ? runtime : NULL;
}

/* As worker_connecting(), in a process of Python. */
static __always_inline void worker_of_python(struct actor *a, const struct runtime *runtime)
{
	struct named named = {};
	enum runtime_worker who;
	__u64 made_for;

	worker_current(a);
	a->runtime = RUNTIME_PYTHON;
	who = runtime_task(runtime, &a->key, &named);
	a->kind = actor_kind_of(who);
	a->by = EVIDENCE_TASK;
	actor_named(a, named);
	made_for = actor_made_for(a);
	if (made_for)
		a->doubtful = python_thread_given(runtime, a->key.tgid, made_for);
}

/* As work_begin(), in a process of Python. */
VERIFIED_ALONE int shown_begin(struct work_asked *ret_asked)
{
	const struct runtime *runtime = runtime_lookup(bpf_get_current_pid_tgid() >> 32);
	struct actor by;

	if (!ret_asked || !runtime || !work_may_be(&ret_asked->told))
		return 0;
	worker_of_python(&by, runtime);
	ret_asked->by = by;
	return 1;
}

#define WORKER_ANY (~0ULL)

/*
 * The current thread goes on with something, and is shown with the request to which a call would
 * belong that it began now; with none if that is the work of another one than `worker` (as in
 * struct worker_key.context).
 */
static __always_inline void show(__u64 worker)
{
	struct work_asked *asked = work_shown_asked();

	if (!asked)
		return;
	if (shown_begin(asked) && (worker == WORKER_ANY || asked->by.key.context == worker))
		work_decide(asked);
	work_show_told(asked);
}

/* What the current thread was shown with is over. Of other programs it may be theirs. */
static __always_inline void hide(void)
{
	__u64 thread = bpf_get_current_pid_tgid();
	const struct runtime *runtime;

	if (!traces_lookup(thread))
		return;
	runtime = runtime_lookup(thread >> 32);
	if (runtime && runtime->kind == RUNTIME_PYTHON)
		work_hide();
}

/*
 * A step of a task begins, the third argument of what is called, or one goes on within which
 * another one began. A task that begins at once (eager_start) has not entered its context yet: it
 * is shown when it goes on.
 */
SEC("uprobe")
int probe_step_begins(struct pt_regs *ctx)
{
	const struct runtime *runtime = shown_now(bpf_get_current_pid_tgid() >> 32);

	if (runtime)
		show(user_read(argument(ctx, 2) + runtime->python.task_offset));
	return 0;
}

/* A step of a task is over. */
SEC("uprobe")
int probe_step_ends(struct pt_regs *ctx)
{
	hide();
	return 0;
}

/* Another greenlet is at work from now on, in its first step or a later one. */
SEC("uprobe")
int probe_switch_done(struct pt_regs *ctx)
{
	if (shown_now(bpf_get_current_pid_tgid() >> 32))
		show(WORKER_ANY);
	return 0;
}

/* The thread that a program begins with is a loop's, as a rule: its tasks tell more. */
static __always_inline int is_first_thread(void)
{
	__u64 thread = bpf_get_current_pid_tgid();

	return thread >> 32 == (__u32)thread;
}

/* Another thread has entered a context: it may run a function for a task. */
SEC("uprobe")
int probe_context_entered(struct pt_regs *ctx)
{
	if (!is_first_thread() && shown_now(bpf_get_current_pid_tgid() >> 32))
		show(WORKER_ANY);
	return 0;
}

/* It is about to leave it. */
SEC("uprobe")
int probe_context_left(struct pt_regs *ctx)
{
	if (!is_first_thread())
		hide();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
