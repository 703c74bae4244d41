/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For which request a goroutine is at work, or a greenlet of Python: both are made by another one,
 * and are workers of their own.
 */
#ifndef CTXPROP_RUNTIMES_GOROUTINE_BPF_H
#define CTXPROP_RUNTIMES_GOROUTINE_BPF_H

#include "engine/maps.bpf.h"
#include "engine/standing.h"
#include "runtimes/rule.bpf.h"

/* One is still at work although the request for which it was started is over. */
static __always_inline void goroutine_outlives(__u32 tgid, struct goroutine *goroutine)
{
	rule_learn(tgid, goroutine->start, 0);
	if (ENGINE_LEARNS)
		goroutine->inherited = 0;
}

/*
 * What a goroutine has inherited is not in doubt if those that begin where it began are known to
 * end with their requests.
 */
static __always_inline struct named goroutine_inherited(const struct worker_key *key,
							struct goroutine *goroutine)
{
	struct named named = {.request = goroutine->inherited, .doubtful = 1};

	if (!named.request)
		return (struct named){};
	if (!request_lookup(named.request)) {
		goroutine_outlives(key->tgid, goroutine);
		return (struct named){};
	}
	named.doubtful =
	    (goroutine->flags & GOROUTINE_DOUBTFUL) || rule_doubts(key->tgid, goroutine->start);
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
	goroutine = goroutine_lookup(key);
	if (!goroutine)
		return own;
	if (request_lookup(goroutine_has(goroutine)))
		return goroutine_handed(key, goroutine);
	return goroutine_inherited(key, goroutine);
}

#endif
