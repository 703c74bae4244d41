// SPDX-License-Identifier: GPL-2.0-only
/*
 * Node: its loops have other threads do something, go on with it, and post messages to each other.
 * Attached as opening.bpf.c.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/node/connecting.bpf.h"
#include "runtimes/node/opening.bpf.h"

#define LIBUV_REQUEST_WORK 88 /* uv_work_t.work_req, of libuv 1 */

/* A loop has other threads do the work whose struct uv__work is at an address. */
VERIFIED_ALONE int work_begins(__u64 address)
{
	struct process_address at;
	struct worker_key thread;
	struct worker *w = opening_current(&thread);
	struct actor a;

	if (!w)
		return 0;
	node_connecting(&a);
	at = opening_at(&thread, address);
	work_given(&at, work_given_for(w, &a, a.named));
	return 0;
}

/* uv__work_submit(loop, work, ...): files and names. */
SEC("uprobe")
int probe_work_given(struct pt_regs *ctx)
{
	return work_begins(ctx->rsi);
}

/* uv_queue_work(loop, request, ...): all else. */
SEC("uprobe")
int probe_work_queued(struct pt_regs *ctx)
{
	return work_begins(ctx->rsi + LIBUV_REQUEST_WORK);
}

/* uv__fs_done(work, status), and others like it: the loop goes on with what was done. */
SEC("uprobe")
int probe_work_done(struct pt_regs *ctx)
{
	struct process_address at;
	struct worker_key thread;

	if (!opening_current(&thread))
		return 0;
	at = opening_at(&thread, ctx->rdi);
	work_goes_on(&at, ctx->rsp);
	return 0;
}

/* MessagePortData::AddToIncomingQueue(port, message): a shared_ptr, by its address. */
SEC("uprobe")
int probe_message_posted(struct pt_regs *ctx)
{
	return work_begins(user_read(ctx->rsi));
}

/*
 * Message::Deserialize(message, ...): the thread handles it, below MessagePort::OnMessage() as a
 * rule, until it reads the next one.
 */
SEC("uprobe")
int probe_message_read(struct pt_regs *ctx)
{
	__u64 now = bpf_get_current_pid_tgid();
	struct worker_key thread = {.tgid = now >> 32, .tid = (__u32)now};
	struct process_address at = opening_at(&thread, ctx->rdi);
	struct worker *w;

	if (!work_is_read(&at))
		return 0;
	w = worker_make(&thread);
	if (w)
		w->flags |= WORKER_POSTED;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
