/* SPDX-License-Identifier: GPL-2.0-only */
/* Node: what the current thread goes on with, that another one has done; see runtimes/node/work.h.
 */
#ifndef CTXPROP_RUNTIMES_NODE_WORK_BPF_H
#define CTXPROP_RUNTIMES_NODE_WORK_BPF_H

#include "runtimes/node/maps.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "runtimes/node/work.h"
#include "probes/user.bpf.h"

static __always_inline struct work *work_of_thread(void)
{
	__u64 thread = bpf_get_current_pid_tgid();

	return work_done_lookup(&thread);
}

/* The thread gives the work `at` to others, for a request (0: not known for which). */
static __always_inline void work_given(const struct process_address *at, __u64 request)
{
	if (request)
		works_set(at, &request);
	else
		works_delete(at);
}

/* It goes on with it, in a function at whose entry the stack ends at `stack`. */
static __always_inline void work_goes_on(const struct process_address *at, __u64 stack)
{
	__u64 thread = bpf_get_current_pid_tgid();
	const __u64 *request = works_lookup(at);
	struct work now = {.request = request ? *request : 0, .stack = stack};

	now.returns = user_read(stack);
	work_done_set(&thread, &now);
	works_delete(at);
}

/* It reads the message `at`. Returns whether that was posted for a request. */
static __always_inline int work_is_read(const struct process_address *at)
{
	__u64 thread = bpf_get_current_pid_tgid();
	const __u64 *request = works_lookup(at);
	struct work now = {.request = request ? *request : 0};
	struct runtime *runtime;

	if (!now.request) {
		work_done_delete(&thread);
		return 0;
	}
	work_done_set(&thread, &now);
	works_delete(at);
	runtime = runtime_lookup(at->tgid);
	if (runtime && !(runtime->flags & RUNTIME_MESSAGES))
		__sync_fetch_and_or(&runtime->flags, RUNTIME_MESSAGES);
	return 1;
}

#endif
