// SPDX-License-Identifier: GPL-2.0-only
/*
 * Node: libuv's handles of connections are made, connected and closed, and its loops begin what was
 * left for later. Attached to programs that take requests; twice for a moment when one daemon takes
 * over from another.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "probes/opening.bpf.h"
#include "probes/step.bpf.h"

#define LIBUV_REQUEST_WORK 88 /* uv_work_t.work_req, of libuv 1 */

/* uv_tcp_init(loop, handle): also for connections that are accepted, apart from what is read. */
SEC("uprobe")
int probe_opening_made(struct pt_regs *ctx)
{
	struct purpose purpose = {};
	struct process_address at;
	const struct runtime *runtime;
	struct actor a;

	worker_current(&a);
	if (!opening_thread(&a.key))
		return 0;
	worker_connecting(&a);
	runtime = runtime_lookup(a.key.tgid);
	if (!runtime || !(runtime->flags & RUNTIME_READS))
		return 0; /* whether it is accepted cannot be told yet */
	at = opening_at(&a.key, ctx->rsi);
	opening_over(&at);
	step_open(&purpose, &a);
	bpf_map_update_elem(&purposes, &at, &purpose, BPF_ANY);
	return 0;
}

/* uv_tcp_connect(request, handle, address, done), which makes a socket and connects it. */
SEC("uprobe")
int probe_opening_connects(struct pt_regs *ctx)
{
	struct worker_key thread;
	struct worker *w;
	struct actor a;

	worker_current(&a);
	thread = a.key;
	w = opening_thread(&thread);
	if (w)
		w->item = ctx->rsi;
	return 0;
}

/* uv_close(handle, done), of whatever kind. */
SEC("uprobe")
int probe_opening_closes(struct pt_regs *ctx)
{
	struct process_address at = {.tgid = bpf_get_current_pid_tgid() >> 32, .address = ctx->rdi};

	opening_over(&at);
	return 0;
}

/* A loop has other threads do the work whose struct uv__work is at an address. */
VERIFIED_ALONE int work_begins(__u64 address)
{
	struct process_address at;
	struct worker_key thread;
	struct worker *w;
	struct actor a;

	worker_current(&a);
	thread = a.key;
	w = opening_thread(&thread);
	if (!w)
		return 0;
	worker_connecting(&a);
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
	struct worker_key thread;
	struct process_address at;
	struct actor a;

	worker_current(&a);
	thread = a.key;
	if (!opening_thread(&thread))
		return 0;
	at = opening_at(&thread, ctx->rdi);
	work_goes_on(&at, ctx->rsp);
	return 0;
}

/*
 * node::Environment::CheckImmediate(handle): a loop has read everything in this turn. Only in
 * programs that leave calls for later.
 */
SEC("uprobe")
int probe_later_checks(struct pt_regs *ctx)
{
	struct later *l = later_of_thread();
	struct worker_key thread;
	struct worker *w;
	struct actor a;

	if (!l) {
		worker_current(&a);
		thread = a.key;
		w = opening_thread(&thread);
		l = w ? later_make() : NULL;
		if (l)
			w->flags |= WORKER_LATER;
	}
	if (l)
		later_checks(l, ctx->rdi);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
