/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which request the current thread works on at this moment: what the engine would say of a call
 * that it began now. For programs that define ENGINE_ASKS (engine/learns.h): nothing is changed.
 */
#ifndef CTXPROP_PROBES_WORK_BPF_H
#define CTXPROP_PROBES_WORK_BPF_H

#include "probes/actor.bpf.h"
#include "runtimes/asked.bpf.h"

/* What the engine says of the current thread's work. */
struct work_told {
	__u64 request;           /* 0: none is known */
	struct traces_ctx shown; /* its ids */
	__u8 evidence;           /* enum evidence: by which it is known */
	__u8 veto;               /* enum veto: why none is */
	__u8 serves;             /* 1: the process has read requests */
	__u8 reserved[5];
};

/* Who runs now, as if it were about to connect. */
static __always_inline void worker_asked(struct actor *a)
{
	const struct runtime *runtime;

	worker_connecting(a);
	runtime = runtime_lookup(a->key.tgid);
	runtime_is_asked(a, runtime);
}

static __always_inline void work_is_of(struct work_told *ret_told, __u64 id)
{
	const struct request *r = request_lookup(id);

	if (!r)
		return;
	ret_told->shown = *request_shown(r, id);
	ret_told->request = request_is_over(r, id) ? 0 : id;
}

/* Fill in what is told of the current thread. A process without requests leaves at once. */
VERIFIED_ALONE int work_ask(struct work_told *ret_told)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct process *p = process_lookup(&tgid);
	struct verdict v;
	struct actor a;

	if (!ret_told)
		return 0;
	*ret_told = (struct work_told){};
	if (!p)
		return 0;
	ret_told->serves = p->served != 0;
	worker_asked(&a);
	v = decide_work(actor_worker(&a), p, &a);
	ret_told->evidence = v.evidence;
	ret_told->veto = v.veto;
	work_is_of(ret_told, v.request);
	return 0;
}

#endif
