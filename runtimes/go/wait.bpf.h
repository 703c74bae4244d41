/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goroutines with requests that wait for something which other goroutines do: what one of these
 * calls for may be theirs. Who is parked has his frames on his stack, and they tell what for.
 */
#ifndef CTXPROP_RUNTIMES_GO_WAIT_BPF_H
#define CTXPROP_RUNTIMES_GO_WAIT_BPF_H

#include "engine/account.h"
#include "engine/maps.bpf.h"
#include "engine/standing.h"
#include "runtimes/go/memory.bpf.h"
#include "runtimes/runtime.bpf.h"

/*
 * Requests are looked for where nearly all stand (request_drawn()): one that stands elsewhere is
 * not found, and then it is not known what its goroutine does.
 */
#define GO_REQUESTS 1024

/* A search for requests of a process whose goroutines wait for others. */
struct go_waits {
	const struct runtime *runtime;
	__u64 request; /* for which a call begins */
	__u32 tgid;
	__s32 left; /* its open requests that were not looked at yet */
	__u32 found;
	__u32 reserved;
};

/* As a callback of bpf_loop(): the request at this place. */
static long go_waits_step(__u32 index, struct go_waits *waits)
{
	const struct request *r = request_in(index);
	enum standing standing;

	if (!r || r->worker.tgid != waits->tgid || !r->id || r->id == waits->request)
		return 0;
	standing = standing_of(r->state);
	waits->left -= standing != STANDING_NONE;
	if ((standing != STANDING_IDLE && standing != STANDING_ANSWERED) ||
	    !goroutine_waits(&waits->runtime->go, r->worker.context))
		return waits->left <= 0;
	waits->found = 1;
	request_may_be_served(r->id);
	return waits->left <= 0;
}

/*
 * Does a goroutine with another open request wait for another one, so that a call which begins now
 * may be for that request?
 */
VERIFIED_ALONE int goroutine_others_wait(__u32 tgid, __u64 request)
{
	const struct process *p = process_lookup(&tgid);
	struct go_waits waits = {.tgid = tgid, .request = request};

	waits.runtime = runtime_lookup(tgid);
	if (!p || !waits.runtime || !waits.runtime->go.frame_offset)
		return 0;
	waits.left = tally_open(&p->tally) - 1;
	if (waits.left > 0)
		bpf_loop(GO_REQUESTS, go_waits_step, &waits, 0);
	return waits.found || waits.left > 0;
}

#endif
