/* SPDX-License-Identifier: GPL-2.0-only */
/* How an entry of map `runtimes` comes and goes. */
#ifndef CTXPROP_RUNTIMES_RUNTIME_BPF_H
#define CTXPROP_RUNTIMES_RUNTIME_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "compat.bpf.h"
#include "engine/learns.h"
#include "engine/maps.bpf.h"
#include "engine/worker.h"
#include "runtimes/maps.bpf.h"

/* enum runtime_kind; 0: nothing is known of the process. */
static __always_inline __u32 runtime_kind(const struct runtime *runtime)
{
	return runtime ? runtime->kind : 0;
}

static __always_inline void runtime_tell(__u32 tgid)
{
	if (ENGINE_LEARNS)
		events_tell(tgid, RUNTIME_EVENT_LOOK);
}

/* Ask user space what this process runs, unless it was asked already, or cannot hear it now. */
VERIFIED_ALONE int runtime_wanted(__u32 tgid)
{
	static const struct runtime asked = {.kind = RUNTIME_WANTED}; /* too large for the stack */

	if (runtime_lookup(tgid))
		return 0;
	if (runtime_add(tgid, &asked))
		share_is_reached(0, SHARE_RUNTIMES);
	else if (events_tell(tgid, RUNTIME_EVENT_LOOK))
		runtime_delete(tgid);
	return 0;
}

/* Is there room for one more process that has read no request? Then it is counted as such. */
static __always_inline int listeners_add(__u32 tgid)
{
	if (!listener_set(tgid))
		return 1;
	share_is_reached(0, SHARE_LISTENERS);
	return 0;
}

/* A process listens: what it runs should be known before it serves. */
VERIFIED_ALONE int runtime_listens(__u32 tgid)
{
	if (!runtime_lookup(tgid) && listeners_add(tgid))
		runtime_wanted(tgid);
	return 0;
}

/* The process `made` runs what its maker does, at the same addresses. */
static __always_inline void runtime_copy(const struct runtime *runtime, __u32 made)
{
	if (runtime->kind == RUNTIME_WANTED)
		runtime_wanted(made);
	else
		runtime_set(made, runtime);
}

/* A process is made: it runs what its maker does, until it says otherwise. */
VERIFIED_ALONE int runtime_inherit(__u32 maker, __u32 made)
{
	const struct runtime *runtime = runtime_lookup(maker);

	if (runtime && listeners_add(made))
		runtime_copy(runtime, made);
	return 0;
}

/* A call was made of which nothing is known: was work handed over for it in some other way? */
static __always_inline void runtime_suspects_pool(__u32 tgid)
{
	struct runtime *runtime;

	if (!ENGINE_LEARNS)
		return;
	runtime = runtime_lookup(tgid);
	if (runtime && !(__sync_fetch_and_or(&runtime->flags, RUNTIME_POOLS) & RUNTIME_POOLS))
		runtime_tell(tgid);
}

/* The same for work that was asked about, by who learns nothing: more is watched from then on. */
static __always_inline void runtime_suspects_pool_at_work(struct runtime *runtime, __u32 tgid)
{
	if (!(__sync_fetch_and_or(&runtime->flags, RUNTIME_POOLS) & RUNTIME_POOLS))
		events_tell(tgid, RUNTIME_EVENT_LOOK);
}

/*
 * What the maps of runtimes have of a process that is gone goes with it: user space is asked once,
 * until it has come round to that.
 */
static __always_inline void runtime_leaves(__u32 tgid)
{
	__u32 *asked = sweep_asked_lookup();

	if (asked && !__sync_fetch_and_or(asked, 1) && events_tell(tgid, RUNTIME_EVENT_GONE))
		*asked = 0;
}

/* The process has become another program, or is gone. */
static __always_inline void runtime_forget(__u32 tgid)
{
	struct process_address rule = {.tgid = tgid};
	int idle = !listener_delete(tgid);

	if (runtime_delete(tgid) || idle)
		return;
#pragma clang loop unroll(full) /* the verifier of 6.1 does not count what lies on the stack */
	for (int i = 1; i < TASK_RULE_END; i++) {
		rule.address = (__u64)i;
		start_delete(&rule);
	}
	runtime_leaves(tgid);
}

#endif
