// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks of Python: who makes and who wakes whom. Attached to the module _asyncio of programs that
 * take requests.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/python/callback.bpf.h"
#include "runtimes/python/protocol.bpf.h"
#include "runtimes/python/maps.bpf.h"
#include "runtimes/python/uprobe.bpf.h"

/* All are read: the verifier takes no address in `ctx` that is worked out. */
static __always_inline __u64 kept_register(volatile const struct pt_regs *ctx, __u32 which)
{
	__u64 rbx = ctx->rbx, rbp = ctx->rbp, r13 = ctx->r13, r14 = ctx->r14, r15 = ctx->r15;

	switch (which) {
	case PYTHON_RBX:
		return rbx;
	case PYTHON_RBP:
		return rbp;
	case PYTHON_R13:
		return r13;
	case PYTHON_R14:
		return r14;
	default:
		return r15;
	}
}

/* What was known of a context whose memory is used again: if it was a task's, that is over. */
static __always_inline void forget(const struct worker_key *key)
{
	const struct task *old = tasks_lookup(key);

	if (old && old->request && (old->flags & TASK_MADE) && (old->flags & TASK_CALLED))
		rule_learn(key->tgid, TASK_RULE_MADE, 1);
	if (old && old->request && (old->flags & (TASK_MADE | TASK_OUTLIVES)) == TASK_MADE)
		rule_learn(key->tgid, TASK_RULE_KEPT, 1);
	if (old && (old->flags & TASK_THROUGH))
		rule_learn(key->tgid, TASK_RULE_EAGER, 0);
	if (old)
		tasks_delete(key);
	if (worker_lookup(key))
		worker_delete(key);
}

/* A request has a task: made by who read it (0), or later, by one that was at another request. */
static __always_inline void give_made(struct task *made, __u64 request, __u32 flags)
{
	struct request *r = request_lookup(request);

	if (!r)
		return;
	made->request = request;
	made->flags |= flags ? flags : TASK_FIRST;
	made->maker = 0; /* it is not for what that one does */
	__sync_fetch_and_or(&r->flags, REQUEST_GIVEN | (flags ? REQUEST_WOKE : 0));
}

/* The current context has no request: it may have had another one, or one that is not known. */
static __always_inline void inherit_waiting(const struct worker_key *from, struct task *made)
{
	give_made(made, protocol_request(from->tgid), TASK_WOKEN | TASK_LATE);
}

/* What the current task, or whatever context, works on goes with what it makes. */
static __always_inline void inherit_context(const struct runtime *runtime,
					    const struct worker_key *from, struct task *made)
{
	struct task *task = task_lookup(runtime, from);
	__u64 own = task_reads(from, task);

	if (task && !task_is_blank(task)) {
		made->maker = from->context;
		made->maker_made_ns = task->made_ns;
	}
	if (own && (!task || task_is_blank(task))) {
		protocol_note(from->tgid, own);
		give_made(made, own, 0);
		return;
	}
	made->request = own;
	if (own || (task && (task->flags & TASK_SHARED)))
		return;
	if (task && task_is_odd(runtime, from->tgid, task))
		return;
	if (!task || !request_lookup(task->request)) {
		inherit_waiting(from, made);
		return;
	}
	made->request = task->request;
	made->flags |= task->flags & TASK_WOKEN;
	if (task_is_orphan(from->tgid, task))
		made->flags |= TASK_OF_ORPHAN;
}

/* The same, of a thread that has entered no context, too. */
static __always_inline void inherit(const struct runtime *runtime, const struct worker_key *from,
				    struct task *made)
{
	const struct worker *w;

	if (from->context) {
		inherit_context(runtime, from, made);
		return;
	}
	w = worker_lookup(from);
	if (w && !w->turn.item)
		made->request = worker_only(w);
}

/* A task is made: its context has just been copied from the current one. */
SEC("uprobe")
int probe_task_made(struct pt_regs *ctx)
{
	struct worker_key parent, child;
	const struct runtime *runtime = python_current(&parent);
	struct task made = {.made_ns = bpf_ktime_get_ns(), .flags = TASK_MADE};

	if (!runtime)
		return 0;
	child = (struct worker_key){.tgid = parent.tgid, .context = returned(ctx)};
	made.address = kept_register(ctx, runtime->python.task_register);
	forget(&child);
	inherit(runtime, &parent, &made);
	if (child.context)
		tasks_set(&child, &made);
	return 0;
}

/* A task that waits is given a request. Does it work for several at a time? */
static __always_inline void give(const struct runtime *runtime, const struct worker_key *to,
				 __u64 address, __u64 request)
{
	struct task *task = task_lookup(runtime, to);
	struct task first = {.request = request,
			     .address = address,
			     .made_ns = bpf_ktime_get_ns(),
			     .flags = TASK_WOKEN};
	enum standing before;

	if (!task) {
		forget(to);
		tasks_set(to, &first);
		return;
	}
	if (task->request == request)
		return;
	before = request_standing(task->request);
	if (standing_is_active(before))
		task->flags |= TASK_SHARED;
	task->request = request;
	task->maker = 0;
	task->flags = (task->flags & TASK_SHARED) | TASK_WOKEN;
}

/* A future has its result: the task that waits for it, if it is one. Tells its context, too. */
static __always_inline __u64 waits_for(const struct runtime *runtime, __u64 future,
				       struct worker_key *waiter)
{
	waiter->context = user_read(future + PYTHON_FUTURE_CONTEXT);
	return task_that_waits(runtime, user_read(future + PYTHON_FUTURE_WAITER), waiter->context);
}

/* Is a task that was made for a request still at work, though that is over? */
static __always_inline void learn_kept(__u32 tgid, struct task *task)
{
	if ((task->flags & (TASK_MADE | TASK_OUTLIVES)) != TASK_MADE || !task->request ||
	    request_lookup(task->request))
		return;
	task->flags |= TASK_OUTLIVES;
	rule_learn(tgid, TASK_RULE_KEPT, 0);
}

/* Whoever wakes it. */
static __always_inline void woken(const struct runtime *runtime, const struct worker_key *waiter)
{
	struct task *task = task_lookup(runtime, waiter);

	if (!task)
		return;
	learn_kept(waiter->tgid, task);
	task_has_waited(runtime, waiter->tgid, task);
}

/*
 * The request that the current context has read in this turn, or was called back for; 0: none, or
 * it is a task's.
 */
static __always_inline __u64 read_for(const struct runtime *runtime,
				      const struct worker_key *reader)
{
	const struct task *task = task_lookup(runtime, reader);
	__u64 id;

	if (!reader->context || (task && !task_is_blank(task)))
		return 0;
	id = task_reads(reader, NULL);
	return id ? id : callback_request(runtime, reader);
}

/*
 * A task sets a result for which nobody waits: does it take a request out of a buffer that was read
 * while nobody waited for it? Then it goes on with that.
 */
static __always_inline void takes_from_buffer(const struct runtime *runtime,
					      const struct worker_key *reader, __u64 future)
{
	struct task *task = task_lookup(runtime, reader);
	struct request *r;

	if (!task || user_read(future + PYTHON_FUTURE_WAITER))
		return;
	r = request_lookup(protocol_takes(reader->tgid));
	if (!r)
		return;
	__sync_fetch_and_or(&r->flags, REQUEST_WOKE);
	give(runtime, reader, task->address, r->id);
}

/*
 * Future.set_result: if this is the context that has read a request, and no task's, then the task
 * that waits for the future goes on with that request, or whoever else is called back.
 */
SEC("uprobe")
int probe_task_woken(struct pt_regs *ctx)
{
	__u64 future = argument(ctx, 0), task, id;
	struct worker_key reader, waiter;
	const struct runtime *runtime = python_current(&reader);
	struct request *r;

	if (!runtime)
		return 0;
	waiter = (struct worker_key){.tgid = reader.tgid};
	task = waits_for(runtime, future, &waiter);
	if (waiter.context == reader.context)
		return 0;
	if (task)
		woken(runtime, &waiter);
	else
		callback_forget(&waiter);
	id = read_for(runtime, &reader);
	r = request_lookup(id);
	if (!r) {
		takes_from_buffer(runtime, &reader, future);
		return 0;
	}
	if (!task) {
		callback_is_given(&waiter, future, id);
		return 0;
	}
	__sync_fetch_and_or(&r->flags, REQUEST_WOKE);
	give(runtime, &waiter, task, id);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
