/* SPDX-License-Identifier: GPL-2.0-only */
/* For which request a goroutine is at work. */
#ifndef CTXPROP_RUNTIMES_GO_GOROUTINE_BPF_H
#define CTXPROP_RUNTIMES_GO_GOROUTINE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "engine/learns.h"
#include "engine/maps.bpf.h"
#include "runtimes/go/handed.h"
#include "runtimes/go/maps.bpf.h"
#include "runtimes/go/memory.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "engine/standing.h"
#include "runtimes/go/wait.bpf.h"

/* A goroutine is still at work although the request for which it was started is over. */
static __always_inline void count_outlived(__u32 tgid, struct goroutine *goroutine)
{
	struct process_address at = {.tgid = tgid, .address = goroutine->start};
	struct start *start = bpf_map_lookup_elem(&starts, &at);
	struct start first = {.outlived = 1};

	if (!ENGINE_LEARNS)
		return;
	goroutine->inherited = 0;
	if (start)
		__sync_fetch_and_add(&start->outlived, 1);
	else
		bpf_map_update_elem(&starts, &at, &first, BPF_NOEXIST);
}

/*
 * What a goroutine has inherited is not in doubt if those that begin where it began are known to
 * end with their requests.
 */
static __always_inline struct named goroutine_inherited(const struct worker_key *key,
							struct goroutine *goroutine)
{
	struct process_address at = {.tgid = key->tgid, .address = goroutine->start};
	struct named named = {.request = goroutine->inherited, .doubtful = 1};
	const struct start *start;

	if (!named.request)
		return (struct named){};
	if (!request_lookup(named.request)) {
		count_outlived(key->tgid, goroutine);
		return (struct named){};
	}
	start = bpf_map_lookup_elem(&starts, &at);
	named.doubtful =
	    (goroutine->flags & GOROUTINE_DOUBTFUL) || !start || !start_is_trusted(start);
	return named;
}

/*
 * What a goroutine was handed is what it works on, unless it was started for another request that
 * is still open: what it got may be a thing to use then, or an answer to it.
 */
static __always_inline struct named goroutine_handed(const struct worker_key *key,
						     struct goroutine *goroutine)
{
	struct named named;

	if (!goroutine->inherited || goroutine->inherited == goroutine->handed.request)
		return goroutine->handed;
	named = goroutine_inherited(key, goroutine);
	if (!named.request)
		return goroutine->handed;
	return named.doubtful ? (struct named){} : named;
}

/* The request that a goroutine has read itself. */
static __always_inline __u64 goroutine_reads(const struct worker_key *key)
{
	const struct worker *w = worker_lookup(key);

	return w ? worker_only(w) : 0;
}

/* The request that a goroutine works on: it has read it, or was handed it, or inherited it. */
static __always_inline struct named goroutine_request(const struct worker_key *key)
{
	struct named own = {.request = goroutine_reads(key)};
	struct goroutine *goroutine;

	if (own.request)
		return own;
	goroutine = bpf_map_lookup_elem(&goroutines, key);
	if (!goroutine)
		return own;
	if (request_lookup(goroutine_has(goroutine)))
		return goroutine_handed(key, goroutine);
	return goroutine_inherited(key, goroutine);
}

/*
 * The same, for what it sends to others. One that has called for what it was started for may be
 * done with that, and send what has waited meanwhile.
 */
static __always_inline struct named goroutine_sends(const struct worker_key *key)
{
	struct named named = goroutine_request(key);
	const struct goroutine *goroutine = bpf_map_lookup_elem(&goroutines, key);

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
	struct goroutine *goroutine = bpf_map_lookup_elem(&goroutines, key);
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
