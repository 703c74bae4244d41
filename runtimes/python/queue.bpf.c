// SPDX-License-Identifier: GPL-2.0-only
/*
 * Python's queues: SimpleQueue, through which its executors get their work, and queue.Queue, which
 * keeps its items in a deque. Attached to the interpreters of programs that take requests and hand
 * them over between threads; to deques, which others use too, only where something is not known.
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

#define QUEUE_TYPE  0x6575657551ULL /* "Queue", with its NUL */
#define QUEUE_BASES 4               /* that are looked at of a type made of it */

/* Is the current thread in a method of a queue.Queue, or of a type that is made of it? */
static __always_inline int python_is_in_queue(const struct runtime *runtime)
{
	const __u64 frame = python_innermost(runtime), named = 0xffffffffffffULL;
	__u64 type;

	if (!frame)
		return 0;
	type = python_type(user_read(frame + runtime->python.frames.locals));
	for (int i = 0; i < QUEUE_BASES && type; i++) {
		if ((user_read(user_read(type + PYTHON_TYPE_NAME)) & named) == QUEUE_TYPE)
			return 1;
		type = user_read(type + PYTHON_TYPE_BASE);
	}
	return 0;
}

static __always_inline struct queued *queued_at(__u32 tgid, __u64 address)
{
	struct process_address at = {.tgid = tgid, .address = address};

	return queued_lookup(&at);
}

static __always_inline int queue_is_work(__u32 tgid, __u64 queue)
{
	const struct queued *marked = queued_at(tgid, queue);

	return !marked || (marked->request != QUEUED_NO_WORK &&
			   !(marked->request == QUEUED_KEPT && marked->queue));
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

static __always_inline void queue_is_kept(__u32 tgid, __u64 queue, struct queued *marked)
{
	struct process_address at = {.tgid = tgid, .address = queue};
	struct queued first = {.request = QUEUED_KEPT, .queue = QUEUED_KEEP};

	if (!marked)
		queued_set(&at, &first);
	else if (marked->request == QUEUED_KEPT && marked->queue < QUEUED_KEEP_MAX)
		marked->queue += QUEUED_KEEP;
}

/* Does the thread keep what it took out before this? That tells of the queue. */
static __always_inline void look_for_several(const struct worker *w, __u32 tgid, __u64 queue,
					     __u64 item)
{
	struct queued *marked;

	if (!queue_keeps(w, queue) || is_of_executor(item) || python_is_none(item))
		return;
	marked = queued_at(tgid, queue);
	if (!queue_is_served(w))
		queue_is_kept(tgid, queue, marked);
	else if (marked && marked->request == QUEUED_KEPT && marked->queue)
		marked->queue--;
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

/* The current thread, or what runs in it, puts an item into a queue. */
static __always_inline void queue_puts(const struct runtime *runtime, const struct worker_key *key,
				       __u64 queue, __u64 item)
{
	struct process_address at = {.tgid = key->tgid, .address = item};
	struct queued now = {.queue = queue}, *old;

	now.request = request_put(runtime, key, queue, item);
	old = queued_lookup(&at);
	if (old)
		*old = now;
	else
		queued_set(&at, &now);
}

/* The current thread asks a queue for an item. */
static __always_inline void queue_asks(const struct worker_key *key, __u64 queue)
{
	struct worker *w = key->context ? NULL : worker_lookup(key);

	if (w)
		python_asks(w, key->tgid, queue);
	if (w && w->published)
		queue_asked(w, key, queue);
}

/* The current thread has got an item out of a queue. */
static __always_inline void queue_gets(const struct worker_key *key, __u64 item)
{
	struct queued *found = queued_at(key->tgid, item);
	struct worker *w = found ? worker_make(key) : worker_lookup(key);
	__u64 request = 0, queue = 0;

	if (found) {
		request = found->request;
		queue = found->queue;
		found->request = 0;
		found->queue = 0;
	}
	if (!w)
		return;
	look_for_several(w, key->tgid, queue, item);
	if (request && !queue_is_work(key->tgid, queue))
		request = 0;
	queue_got(w, key, queue, item, request);
	if (request && request == w->inherited)
		python_keep_item(key->tgid, item, request);
}

/* SimpleQueue.put(item) and put_nowait(): self, array of arguments. */
SEC("uprobe")
int probe_queue_put(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime = python_current(&key);

	if (runtime)
		queue_puts(runtime, &key, argument(ctx, 0), user_read(argument(ctx, 1)));
	return 0;
}

/* SimpleQueue.get() and get_nowait() begin: self. */
SEC("uprobe")
int probe_queue_asked(struct pt_regs *ctx)
{
	struct worker_key key;

	if (python_current(&key))
		queue_asks(&key, argument(ctx, 0));
	return 0;
}

/* SimpleQueue.get() and get_nowait() have an item; NULL: they raise. */
SEC("uprobe")
int probe_queue_got(struct pt_regs *ctx)
{
	struct worker_key key;

	if (python_current(&key) && !key.context && returned(ctx))
		queue_gets(&key, returned(ctx));
	return 0;
}

/* deque.append(item): self, item. */
SEC("uprobe")
int probe_deque_appends(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime = python_current(&key);

	if (runtime && python_is_in_queue(runtime))
		queue_puts(runtime, &key, argument(ctx, 0), argument(ctx, 1));
	return 0;
}

/* deque.popleft() begins: self. */
SEC("uprobe")
int probe_deque_pops(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime = python_current(&key);

	if (runtime && python_is_in_queue(runtime))
		queue_asks(&key, argument(ctx, 0));
	return 0;
}

/* deque.popleft() has an item; NULL: it raises. */
SEC("uprobe")
int probe_deque_popped(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime = python_current(&key);

	if (runtime && !key.context && returned(ctx) && python_is_in_queue(runtime))
		queue_gets(&key, returned(ctx));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
