/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which request the current thread works on at this moment: what the engine would say of a call
 * that it began now. For programs that define ENGINE_ASKS (engine/learns.h): nothing is changed
 * that an answer depends on.
 */
#ifndef CTXPROP_PROBES_WORK_BPF_H
#define CTXPROP_PROBES_WORK_BPF_H

#include "probes/thread.bpf.h"

/* What the engine says of the current thread's work. */
struct work_told {
	__u64 request;           /* 0: none is known */
	struct traces_ctx shown; /* its ids */
	__u8 span[8];            /* of the request by HTTP that it is, or that it is a part of */
	__u8 evidence;           /* enum evidence: by which it is known */
	__u8 veto;               /* enum veto: why none is */
	__u8 serves;             /* 1: the process has read requests */
	__u8 reserved[5];
};

/* Who is asked about, and what is told. Too large for the stack together with all that is asked. */
struct work_asked {
	struct actor by;
	struct work_told told;
};

/* The current thread. */
static __always_inline struct worker_key thread_now(void)
{
	__u64 id = bpf_get_current_pid_tgid();

	return (struct worker_key){.tgid = id >> 32, .tid = (__u32)id};
}

/* Can the current thread work on a request at all? */
static __always_inline int work_may_be(struct work_told *ret_told)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct process *p = process_lookup(&tgid);

	*ret_told = (struct work_told){};
	if (p)
		ret_told->serves = p->served != 0;
	return p != NULL;
}

#define WORK_PARTS 2 /* processes that a request goes through, each asked by the one before */

/* A process that was asked by another one of the host works on that one's request. */
static __always_inline void work_is_part_of(struct work_told *ret_told, const struct request *r)
{
	__u64 parent;

	__builtin_memcpy(ret_told->span, ret_told->shown.span_id, sizeof(ret_told->span));
	for (int i = 0; i < WORK_PARTS && r && (r->flags & REQUEST_PEER); i++) {
		__builtin_memcpy(ret_told->span, r->parent_id, sizeof(ret_told->span));
		__builtin_memcpy(&parent, r->parent_id, sizeof(parent));
		r = request_lookup(parent);
	}
}

static __always_inline void work_is_of(struct work_told *ret_told, __u64 id)
{
	const struct request *r = request_lookup(id);

	if (!r)
		return;
	ret_told->shown = *request_shown(r, id);
	work_is_part_of(ret_told, r);
	ret_told->request = request_is_over(r, id) ? 0 : id;
}

/* The engine decides. */
VERIFIED_ALONE int work_decide(struct work_asked *asked)
{
	struct verdict v;

	if (!asked)
		return 0;
	v = decide_work(actor_worker(&asked->by), actor_process(&asked->by), &asked->by);
	asked->told.evidence = v.evidence;
	asked->told.veto = v.veto;
	work_is_of(&asked->told, v.request);
	return 0;
}

#endif
