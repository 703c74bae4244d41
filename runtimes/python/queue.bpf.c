// SPDX-License-Identifier: GPL-2.0-only
/*
 * Python's SimpleQueue, through which its executors get their work. Attached to the interpreters
 * of programs that take requests and hand them over between threads.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "probes/decide.bpf.h"
#include "runtimes/python/frame.bpf.h"
#include "runtimes/python/maps.bpf.h"
#include "runtimes/python/uprobe.bpf.h"
#include "runtimes/python/worker.bpf.h"
#include "engine/queue.h"

static __always_inline struct queued *queued_at(__u32 tgid, __u64 address)
{
	struct process_address at = {.tgid = tgid, .address = address};

	return queued_lookup(&at);
}

static __always_inline int queue_is_work(__u32 tgid, __u64 queue)
{
	const struct queued *marked = queued_at(tgid, queue);

	return !marked || marked->request != QUEUED_NO_WORK;
}

static __always_inline void queue_is_no_work(__u32 tgid, __u64 queue)
{
	struct process_address at = {.tgid = tgid, .address = queue};
	struct queued marked = {.request = QUEUED_NO_WORK};

	queued_set(&at, &marked);
}

/* Does the thread put back what it has taken out? Then the queue is marked. */
static __always_inline int is_put_back(const struct worker *w, __u32 tgid, __u64 queue, __u64 item)
{
	if (!queue_lends(w, queue, item))
		return 0;
	queue_is_no_work(tgid, queue);
	return 1;
}

/* Does the thread keep what it took out before this? Then the queue is marked. */
static __always_inline void look_for_several(const struct worker *w, __u32 tgid, __u64 queue,
					     __u64 item)
{
	if (queue_keeps(w, queue) && !is_of_executor(item) && !python_is_none(item))
		queue_is_no_work(tgid, queue);
}

/* What a context, or a thread that works for a task, puts in is as good as a call for it. */
static __always_inline struct named task_puts(const struct runtime *runtime,
					      const struct worker_key *key,
					      const struct worker_key *thread,
					      const struct worker *w, const struct process *p)
{
	struct named named = {};

	if (key->context)
		named = task_calls(runtime, key);
	if (named.request || (w && w->turn.item) || runtime_thread_serves(thread))
		return named;
	named = task_thread_request(runtime, key->tgid);
	if (!named.request && !key->context && !runtime_thread_is_known(thread))
		named.request = python_serves(key->tgid);
	if (!named.doubtful && !process_has_habit(p, HABIT_QUEUES_OWN))
		named.doubtful = DOUBT_OTHERS;
	return named;
}

/*
 * What is put in is for this request: that of the context, or of the thread, if it is certain. A
 * loop's contexts work for what they are known to work for, and nothing else.
 */
static __always_inline __u64 request_put(const struct runtime *runtime,
					 const struct worker_key *key, __u64 queue, __u64 item)
{
	struct worker_key thread = {.tgid = key->tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct worker *w = worker_lookup(&thread);
	struct process *p = process_lookup(&key->tgid);
	struct named named;
	__u64 request;

	if (greenlet_current(runtime, key->tgid))
		return 0; /* another one may have read what the thread has */
	if (python_is_none(item))
		return 0;
	if (w && is_put_back(w, key->tgid, queue, item))
		return 0;
	if (w && w->inherited)
		python_holds(key->tgid);
	named = task_puts(runtime, key, &thread, w, p);
	if (named.request)
		return process_doubts(p, named.doubtful, request_standing(named.request))
			   ? 0
			   : named.request;
	if (!w || (key->context && w->turn.item))
		return 0;
	request = queue_put(w, p, queue);
	queue_handed_over(w, &thread, request);
	return request;
}

/* SimpleQueue.put(item) and put_nowait(): self, array of arguments. */
SEC("uprobe")
int probe_queue_put(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime = python_current(&key);
	struct process_address at = {.tgid = key.tgid};
	struct queued now = {.queue = argument(ctx, 0)}, *old;

	if (!runtime)
		return 0;
	at.address = user_read(argument(ctx, 1));
	now.request = request_put(runtime, &key, now.queue, at.address);
	old = queued_lookup(&at);
	if (old)
		*old = now;
	else
		queued_set(&at, &now);
	return 0;
}

/* SimpleQueue.get() and get_nowait() begin: self. */
SEC("uprobe")
int probe_queue_asked(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime = python_current(&key);
	struct worker *w = runtime && !key.context ? worker_lookup(&key) : NULL;

	if (w)
		python_asks(w, key.tgid, argument(ctx, 0));
	if (w && w->published)
		queue_asked(w, &key, argument(ctx, 0));
	return 0;
}

/* SimpleQueue.get() and get_nowait() have an item; NULL: they raise. */
SEC("uprobe")
int probe_queue_got(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime = python_current(&key);
	struct queued *found;
	struct worker *w;
	__u64 item = returned(ctx), request = 0, queue = 0;

	if (!runtime || key.context || !item)
		return 0;
	found = queued_at(key.tgid, item);
	w = found ? worker_make(&key) : worker_lookup(&key);
	if (found) {
		request = found->request;
		queue = found->queue;
		found->request = 0;
		found->queue = 0;
	}
	if (!w)
		return 0;
	look_for_several(w, key.tgid, queue, item);
	if (request && !queue_is_work(key.tgid, queue))
		request = 0;
	queue_got(w, &key, queue, item, request);
	if (request && request == w->inherited)
		python_keep_item(key.tgid, item, request);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
