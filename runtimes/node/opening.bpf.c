// SPDX-License-Identifier: GPL-2.0-only
/*
 * Node: libuv's handles of connections are made, connected and closed. Attached to programs that
 * take requests; twice for a moment when one daemon takes over from another.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/node/maps.bpf.h"
#include "runtimes/node/connecting.bpf.h"
#include "runtimes/node/opening.bpf.h"

/* A program begins to open a connection, before it has a socket. */
VERIFIED_ALONE int opening_begins(struct purpose *purpose, const struct actor *by)
{
	if (!purpose || !by)
		return 0;
	engine_open(purpose, by);
	return 0;
}

/* uv_tcp_init(loop, handle): also for connections that are accepted, apart from what is read. */
SEC("uprobe")
int probe_opening_made(struct pt_regs *ctx)
{
	struct purpose purpose = {};
	struct process_address at;
	const struct runtime *runtime;
	struct worker_key thread;
	struct actor a;

	if (!opening_current(&thread))
		return 0;
	node_connecting(&a);
	runtime = runtime_lookup(thread.tgid);
	if (!runtime || !phase_is_told(runtime))
		return 0; /* whether it is accepted cannot be told yet */
	at = opening_at(&thread, ctx->rsi);
	opening_over(&at);
	opening_begins(&purpose, &a);
	purposes_set(&at, &purpose);
	return 0;
}

/* uv_tcp_connect(request, handle, address, done), which makes a socket and connects it. */
SEC("uprobe")
int probe_opening_connects(struct pt_regs *ctx)
{
	struct worker_key thread;
	struct worker *w = opening_current(&thread);

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

char LICENSE[] SEC("license") = "GPL";
