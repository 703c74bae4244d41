// SPDX-License-Identifier: GPL-2.0-only
/*
 * What uvloop is called for, and who writes to its transports. Attached to its module in programs
 * that take requests.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/python/maps.bpf.h"
#include "runtimes/python/uprobe.bpf.h"
#include "runtimes/python/transport.bpf.h"

/* The current thread, if anything is known of it. */
static __always_inline struct worker *thread_now(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct worker_key thread = {.tgid = id >> 32, .tid = (__u32)id};

	return worker_lookup(&thread);
}

/* libuv calls uvloop: it takes Python's lock (PyGILState_Ensure). */
SEC("uprobe")
int probe_transport_called(struct pt_regs *ctx)
{
	struct worker *w = thread_now();

	if (w)
		w->called_back =
		    w->called_back == CALLED_BACK_NOT ? CALLED_BACK_TO_READ : CALLED_BACK_AGAIN;
	return 0;
}

/* Context_Enter: uvloop does what was put off until now. */
SEC("uprobe")
int probe_transport_enters(struct pt_regs *ctx)
{
	struct worker *w = thread_now();

	if (w)
		w->called_back = CALLED_BACK_AGAIN;
	return 0;
}

/* What the context that has been entered works on. */
static __always_inline void is_at(const struct runtime *runtime, struct written *now)
{
	struct task *task = task_lookup(runtime, &now->by);

	now->named = task_request(runtime, &now->by, task);
	now->request = task ? task->request : 0;
	now->made_ns = task ? task->made_ns : 0;
}

/*
 * Is it the connection of a request, and written by a task whose own one is over? Then that says
 * nothing: uvicorn ends each response like that, with no bytes.
 */
static __always_inline int is_afterwards(const struct runtime *runtime, const struct worker_key *by,
					 __u64 socket)
{
	struct process_address at = {.tgid = by->tgid, .address = socket};
	const struct task *task = task_lookup(runtime, by);

	return task && task->request && request_standing(task->request) == STANDING_NONE &&
	       object_lookup(&at);
}

/* UVStream.write and writelines: self. Others may write before it is sent, for the same request. */
SEC("uprobe")
int probe_transport_writes(struct pt_regs *ctx)
{
	struct written now = {}, *old;
	const struct runtime *runtime = python_current(&now.by);
	__u64 socket = runtime ? transport_socket(argument(ctx, 0)) : 0;

	if (!socket || is_afterwards(runtime, &now.by, socket))
		return 0;
	now.position = transport_position(socket);
	if (now.by.context)
		is_at(runtime, &now);
	old = written_lookup(&socket);
	if (old && old->position == now.position && old->by.tgid == now.by.tgid)
		old->shared |= old->named.request != now.named.request;
	else
		written_set(&socket, &now);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
