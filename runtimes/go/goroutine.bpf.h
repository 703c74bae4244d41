/* SPDX-License-Identifier: GPL-2.0-only */
/* For which request a goroutine sends and calls. */
#ifndef CTXPROP_RUNTIMES_GO_GOROUTINE_BPF_H
#define CTXPROP_RUNTIMES_GO_GOROUTINE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "engine/learns.h"
#include "engine/maps.bpf.h"
#include "runtimes/go/maps.bpf.h"
#include "runtimes/go/memory.bpf.h"
#include "runtimes/goroutine.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "engine/standing.h"
#include "runtimes/go/wait.bpf.h"

/*
 * The same, for what it sends to others. One that has called for what it was started for may be
 * done with that, and send what has waited meanwhile.
 */
static __always_inline struct named goroutine_sends(const struct worker_key *key)
{
	struct named named = goroutine_request(key);
	const struct goroutine *goroutine = goroutine_lookup(key);

	if (goroutine && (goroutine->flags & (GOROUTINE_CALLED | GOROUTINE_DOUBTFUL)) &&
	    named.request != goroutine_has(goroutine) && !goroutine_reads(key))
		named.doubtful = 1;
	return named;
}

/* Has a goroutine called before, for the request that it has read or was started for? */
static __always_inline int goroutine_calls_again(const struct worker_key *key, __u64 request,
						 const struct goroutine *goroutine)
{
	const struct request *r = request_lookup(request);

	if (!r || (goroutine && goroutine_has(goroutine) == request))
		return 0;
	if (goroutine_reads(key) == request)
		return r->calls != 0;
	return goroutine && (goroutine->flags & GOROUTINE_CALLED);
}

/*
 * Who has called may go on with what others wait for: if another one with an open request waits for
 * some goroutine now. Not where those who did were all seen to have their own calls made.
 */
static __always_inline int goroutine_goes_on(const struct worker_key *key, __u64 request,
					     const struct goroutine *goroutine)
{
	__u32 tgid = key->tgid;
	const struct process *p = process_lookup(&tgid);

	if (!p || !goroutine_calls_again(key, request, goroutine) ||
	    !process_has_others(p, request_standing(request)))
		return 0;
	return p->habit[HABIT_SERVES_OWN].kept < SERVES_OWN_SURE &&
	       goroutine_others_wait(tgid, request);
}

/* The same, for a call: what was handed over is used up. */
static __always_inline struct named goroutine_calls(const struct worker_key *key)
{
	struct named named = goroutine_request(key);
	struct goroutine *goroutine = goroutine_lookup(key);
	const struct process *p;

	if (goroutine_goes_on(key, named.request, goroutine))
		named.doubtful = DOUBT_ALL;
	if (goroutine) {
		goroutine->handed.request = 0;
		goroutine->flags |= GOROUTINE_CALLED;
	}
	p = named.request ? NULL : process_lookup(&key->tgid);
	if (p && tally_active(&p->tally))
		runtime_suspects_pool(key->tgid);
	return named;
}

#endif
