// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ruby's queues. Attached to its interpreters where an item is put into the array that a queue has
 * for them, where the first one is taken out of it, and where the function begins that does so.
 * Calls, jumps, and a push: the kernel does these by itself. Nothing is attached to returns, for
 * fibers change stacks in between.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "probes/decide.bpf.h"
#include "runtimes/ruby/maps.bpf.h"
#include "runtimes/ruby/queue.bpf.h"
#include "runtimes/ruby/worker.bpf.h"

/* Who is at which queue. */
struct at_queue {
	__u64 context; /* of the current thread */
	__u64 queue;   /* the object whose method is at work; 0: not that of a queue that matters */
	__u32 tgid;
};

static __always_inline struct at_queue at_queue(void)
{
	struct at_queue at = {.tgid = bpf_get_current_pid_tgid() >> 32};
	const struct runtime *runtime = runtime_lookup(at.tgid);

	if (!runtime_holds_objects(runtime) || !(runtime->flags & RUNTIME_QUEUES))
		return at;
	at.context = ruby_context(runtime);
	at.queue = user_read(user_read(at.context + RUBY_CONTEXT_FRAME) + RUBY_FRAME_SELF);
	if (!ruby_is_object(at.queue) || (user_read(at.queue) & RUBY_TYPE_MASK) != RUBY_TYPE_DATA)
		at.queue = 0;
	return at;
}

/* rb_ary_push(array, item) */
SEC("uprobe")
int probe_ruby_put(struct pt_regs *ctx)
{
	struct at_queue at = at_queue();
	struct ruby_place place = {.tgid = at.tgid, .queue = at.queue};
	struct ruby_item now = {.item = ctx->rsi};
	const struct ruby_queue *known;

	if (!at.queue)
		return 0;
	now.request = ruby_puts(at.tgid, at.context, at.queue, now.item);
	known = ruby_queue_make(at.tgid, at.queue);
	if (!known)
		return 0;
	place.number = known->taken + (__u32)ruby_array_length(ctx->rdi);
	ruby_places_set(&place, &now);
	return 0;
}

/* rb_ary_shift(array) */
SEC("uprobe")
int probe_ruby_taken(struct pt_regs *ctx)
{
	struct at_queue at = at_queue();
	struct ruby_queue *known = at.queue ? ruby_queue_make(at.tgid, at.queue) : NULL;
	struct ruby_place place = {.tgid = at.tgid, .queue = at.queue};
	const struct ruby_item *found;
	__u64 item, request;

	if (!known)
		return 0;
	item = ruby_array_first(ctx->rdi);
	place.number = __sync_fetch_and_add(&known->taken, 1);
	found = ruby_places_lookup(&place);
	request = found && found->item == item ? found->request : 0;
	if (found)
		ruby_places_delete(&place);
	ruby_takes(at.tgid, at.context, at.queue, item, request);
	return 0;
}

/* A thread wants an item, and may have to wait for it. */
SEC("uprobe")
int probe_ruby_asked(struct pt_regs *ctx)
{
	struct at_queue at = at_queue();

	if (at.queue)
		ruby_asks(at.tgid, at.queue);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
