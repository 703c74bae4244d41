/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Workers that are no threads, for those who ask about one while it may not run: what it is, and
 * what it works on.
 */
#ifndef CTXPROP_RUNTIMES_PARTS_BPF_H
#define CTXPROP_RUNTIMES_PARTS_BPF_H

#include "runtimes/answer.bpf.h"
#include "runtimes/goroutine.bpf.h"
#include "runtimes/haproxy/part.bpf.h"
#include "runtimes/java/part.bpf.h"
#include "runtimes/python/part.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "who/who.h"

/* What is it that this key names (enum who_what)? */
VERIFIED_ALONE int hook_part(const struct worker_key *named)
{
	struct worker_key key = named ? *named : (struct worker_key){};
	const struct runtime *runtime = runtime_lookup(key.tgid);

	if (!key.context || !runtime)
		return WHO_THREAD;
	ANSWER(part, runtime->kind, runtime, &key);
	return WHO_GOROUTINE;
}

/*
 * What is known of one that has a request of its own, or has taken one over, whether it runs or
 * not. What others were started for they may be done with, which nobody sees.
 */
static __always_inline struct named hook_part_works_on(const struct runtime *runtime,
						       const struct worker_key *key)
{
	ANSWER(part_works_on, runtime->kind, runtime, key);
	return (struct named){.request = goroutine_reads(key)};
}

#endif
