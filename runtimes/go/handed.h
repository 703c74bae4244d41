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

/* The request that a goroutine was handed, as far as that is believed; 0: none. */
static __always_inline __u64 goroutine_has(const struct goroutine *goroutine)
{
	return goroutine->collects ? 0 : goroutine->handed.request;
}

static __always_inline void goroutine_collects(struct goroutine *goroutine)
{
	if (goroutine->collects + GOROUTINE_COLLECTS <= GOROUTINE_COLLECTS_MAX)
		goroutine->collects += GOROUTINE_COLLECTS;
}

/*
 * A goroutine receives one message more. If it has done nothing about the one before, then it
 * collects messages, or they are things to use: it may be at any of them. If it has only sent
 * something meanwhile, this one may be an answer, and not what it goes on with.
 */
static __always_inline void goroutine_gets(struct goroutine *receiver, const struct named *named)
{
	__u64 before = receiver->handed.request;
	__u32 did = receiver->flags & GOROUTINE_DID;
	int differs = before && named->request && before != named->request;

	receiver->handed = *named;
	receiver->flags &= ~GOROUTINE_DID;
	if (!differs || did & (GOROUTINE_STARTED | GOROUTINE_TOLD) || !request_lookup(before))
		return;
	receiver->handed.doubtful = 1;
	if (!did)
		goroutine_collects(receiver);
}

/* A goroutine wakes one that works for `request`, and waits for some goroutine. */
static __always_inline void goroutine_tells(struct goroutine *waker, __u64 request)
{
	if (!request || !waker->handed.request || waker->flags & GOROUTINE_TOLD)
		return;
	if (request != waker->handed.request) {
		goroutine_collects(waker);
		return;
	}
	waker->flags |= GOROUTINE_TOLD;
	if (waker->collects && !waker->handed.doubtful)
		waker->collects--;
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
