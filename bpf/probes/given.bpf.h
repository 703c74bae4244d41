/* SPDX-License-Identifier: GPL-2.0-only */
/* Which processes were made for one connection (engine/given.h), and which of their kin call. */
#ifndef CTXPROP_PROBES_GIVEN_BPF_H
#define CTXPROP_PROBES_GIVEN_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "compat.bpf.h"
#include "engine/given.h"
#include "probes/kernel.bpf.h"
#include "probes/probe.bpf.h"

/* So many makers are asked whether they were made for a connection. */
#define GIVEN_MAKERS 4

/*
 * Has the maker of a process, of which `leader` is the first thread, accepted the connection? Its
 * file has the credentials of who did, and no other process has the same set of them.
 */
static __always_inline int given_by_maker(const struct task_struct *leader, const struct sock *sk)
{
	__u64 socket = (__u64)KERNEL_FIELD(struct sock, sk, sk_socket);
	__u64 file = socket ? (__u64)KERNEL_FIELD(struct socket___kernel, socket, file) : 0;
	__u64 opener = file ? (__u64)KERNEL_FIELD(struct file, file, f_cred) : 0;

	return opener && opener == (__u64)leader->real_parent->cred;
}

/*
 * Does the process of a thread read its first request from a connection that it was given, or has
 * it read all from this one? It has no other threads when it begins.
 */
static __always_inline int given_to(const struct task_struct *task, const struct sock *sk)
{
	__u32 tgid = task->tgid;
	const struct process *p = process_lookup(&tgid);

	if (p && p->served)
		return p->given == (__u64)sk;
	if (task->signal->live.counter > 1 || !given_by_maker(task->group_leader, sk))
		return 0;
	node_flag_set(NODE_GIVEN);
	return 1;
}

/* The nearest of its makers that serves requests. Fills in its first thread; NULL: none is near. */
static __always_inline const struct process *given_maker(const struct task_struct *leader,
							 struct worker_key *ret_first)
{
	const struct process *p;

	for (int i = 0; i < GIVEN_MAKERS; i++) {
		leader = leader->real_parent->group_leader;
		ret_first->tgid = ret_first->tid = leader->tgid;
		p = process_lookup(&ret_first->tgid);
		if (p && p->served)
			return p;
	}
	return NULL;
}

/* Do all from a process up to the children of `p`, which is `tgid`, work for its request? */
static __always_inline int given_all_work_for(const struct task_struct *leader,
					      const struct process *p, __u32 tgid, __u64 request)
{
	const struct request *r = request_lookup(request);

	if (!r)
		return 0;
	for (int i = 0; i < GIVEN_MAKERS && (__u32)leader->tgid != tgid; i++) {
		if (!given_works_for(p, r->taken_ns, leader->start_time,
				     leader->signal->live.counter > 1))
			return 0;
		leader = leader->real_parent->group_leader;
	}
	return !request_is_over(r, request);
}

/* The request that the nearest of its makers serves, if that was made for a connection; or 0. */
VERIFIED_ALONE __u64 given_to_makers(void)
{
	const struct task_struct *leader = bpf_get_current_task_btf()->group_leader;
	struct worker_key first = {};
	const struct process *p = given_maker(leader, &first);
	__u64 request = p ? given_request(p, worker_lookup(&first)) : 0;

	return request && given_all_work_for(leader, p, first.tgid, request) ? request : 0;
}

/*
 * The same for the current thread, which is about to connect or to call: 0 where more is known of
 * it or its process than who has made them.
 */
static __always_inline __u64 given_to_others(const struct worker_key *thread)
{
	const struct process *p;

	if (!node_flag_is(NODE_GIVEN) || worker_lookup(thread))
		return 0;
	p = process_lookup(&thread->tgid);
	return p && p->served ? 0 : given_to_makers();
}

#endif
