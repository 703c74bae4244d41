/* SPDX-License-Identifier: GPL-2.0-only */
/* Who runs now. */
#ifndef CTXPROP_PROBES_ACTOR_BPF_H
#define CTXPROP_PROBES_ACTOR_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "context/worker.h"
#include "probes/turn.bpf.h"
#include "context/decide.h"

/* The worker that the current thread is, or runs. */
static __always_inline void worker_current(struct actor *a)
{
	__u64 id = bpf_get_current_pid_tgid();

	__builtin_memset(a, 0, sizeof(*a));
	a->key.tgid = id >> 32;
	a->key.tid = (__u32)id;
	a->kind = ACTOR_THREAD;
}

/* The same, at a socket. */
static __always_inline void worker_at_socket(struct actor *a, const struct sock *sk)
{
	worker_current(a);
	a->loop = turn_begin(sk, &a->turn);
}

#endif
