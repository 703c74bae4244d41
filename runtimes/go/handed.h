/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What a goroutine makes of the messages that it is handed: does it do one thing after the other?
 *
 * Whoever includes this has declared the store (see engine/standing.h).
 */
#ifndef CTXPROP_RUNTIMES_GO_HANDED_H
#define CTXPROP_RUNTIMES_GO_HANDED_H

#include "engine/standing.h"
#include "runtimes/go/layout.h"

static __always_inline void goroutine_collects(struct goroutine *goroutine)
{
	if (goroutine->one_by_one > 0)
		goroutine->one_by_one = 0;
	if (goroutine->one_by_one - GOROUTINE_COLLECTS >= -GOROUTINE_COLLECTS_MAX)
		goroutine->one_by_one -= GOROUTINE_COLLECTS;
}

/* Is a goroutine done with what it was handed before, as far as can be told of what it did? */
static __always_inline int goroutine_is_done(const struct goroutine *goroutine)
{
	if (goroutine->flags & GOROUTINE_ENDED && goroutine->one_by_one >= GOROUTINE_ONE_BY_ONE)
		return 1;
	return goroutine->flags & (GOROUTINE_STARTED | GOROUTINE_TOLD);
}

/*
 * A goroutine receives one message more. If it has done nothing about the one before, then it
 * collects messages, or they are things to use: it may be at any of them. If it has only sent or
 * closed something meanwhile, this one may be an answer, and not what it goes on with.
 */
static __always_inline void goroutine_gets(struct goroutine *receiver, const struct named *named)
{
	__u64 before = receiver->handed.request;
	int did = receiver->flags & GOROUTINE_DID, done = goroutine_is_done(receiver);

	receiver->handed = *named;
	receiver->flags &= ~GOROUTINE_DID;
	if (!before || before == named->request || done)
		return;
	if (!did)
		goroutine_collects(receiver);
	else if (request_lookup(before))
		receiver->handed.doubtful = 1;
}

/* A goroutine wakes one that works for `request` (0: none), and waits for some goroutine. */
static __always_inline void goroutine_tells(struct goroutine *waker, __u64 request)
{
	if (!request || !waker->handed.request || waker->flags & GOROUTINE_TOLD)
		return;
	if (request != waker->handed.request) {
		goroutine_collects(waker);
		return;
	}
	waker->flags |= GOROUTINE_TOLD;
	if (waker->one_by_one < GOROUTINE_ONE_BY_ONE)
		waker->one_by_one++;
}

/*
 * A goroutine gets a message that hands over no work. Who is done with what it was handed is at
 * something else from then on. So is, if the message comes of a timer, who does that for nobody who
 * waits.
 */
static __always_inline void goroutine_is_signalled(struct goroutine *receiver, int is_over)
{
	if (is_over || receiver->flags & GOROUTINE_TOLD)
		receiver->handed.request = 0;
}

#endif
