/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Node: work that a loop gives to other threads, and goes on with when it is done. libuv has the
 * same object in hand both times (struct uv__work), and says so where uprobes are. So has Node, for
 * what one of its threads posts to another one (struct Message).
 */
#ifndef CTXPROP_RUNTIMES_NODE_WORK_H
#define CTXPROP_RUNTIMES_NODE_WORK_H

#include "engine/decide.h"

/*
 * For which request a loop gives work to others now: the only one that could do anything. (Who is
 * done with something may begin what others wait for.) `at` is what it goes on with, or 0.
 */
static __always_inline __u64 work_given_for(const struct worker *w, const struct actor *a, __u64 at)
{
	__u32 tgid = a->key.tgid;
	enum standing standing;

	if (a->phase == PHASE_READING)
		at = worker_at(w);
	else if (a->phase != PHASE_WORK)
		return 0;
	if (worker_is_posted(w))
		return request_is_alone(at, process_lookup(&tgid)) ? at : 0;
	standing = request_standing(at);
	return standing != STANDING_NONE && tally_is_alone(&w->tally, standing) ? at : 0;
}

#endif
