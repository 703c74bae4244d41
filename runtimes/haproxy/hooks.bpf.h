/* SPDX-License-Identifier: GPL-2.0-only */
/* HAProxy: its threads read requests, for which streams are made. */
#ifndef CTXPROP_RUNTIMES_HAPROXY_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_HAPROXY_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "runtimes/haproxy/worker.bpf.h"

static __always_inline enum evidence haproxy_evidence(const struct actor *a)
{
	return EVIDENCE_TASK;
}

/* Requests are read: a stream is made for the last one, if no other is open. */
static __always_inline void haproxy_requests_read(struct socket *s, int is_only)
{
	s->flags |= SOCKET_TASKS;
	stream_read(is_only);
}

#endif
