/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Processes that were made for one connection, as inetd makes them: somebody accepts, and makes a
 * process that reads from there and from nowhere else. Whatever it runs, and whoever it makes in
 * turn, works for the request that is open on that connection.
 *
 * Whoever includes this has declared the store.
 */
#ifndef CTXPROP_ENGINE_GIVEN_H
#define CTXPROP_ENGINE_GIVEN_H

#include "engine/standing.h"
#include "engine/verdict.h"

/* A process reads a request: its first one, or one more. */
static __always_inline void given_reads(struct process *p, const struct actor *a, __u64 now_ns)
{
	if (!p->served) {
		p->given = a->given ? a->path : 0;
		p->given_ns = now_ns;
	} else if (p->given != a->path) {
		p->given = 0;
	}
}

/*
 * The request that a process works for which was made for a connection; 0: it was not, or there is
 * none, or several. `first`: its first thread, the only one as it began to read.
 */
static __always_inline __u64 given_request(const struct process *p, const struct worker *first)
{
	if (!p->given || !first || p->tally.open != 1 || p->tally.unattributed)
		return 0;
	return worker_only(first);
}

/*
 * Does another process that comes of `p` work for what was taken at `taken_ns`? What was made since
 * then does, and what was made for the connection as a whole. Of that one that has threads may be
 * at something that an earlier request has left, as is what was made for that.
 */
static __always_inline int given_works_for(const struct process *p, __u64 taken_ns, __u64 made_ns,
					   int has_threads)
{
	if (made_ns >= taken_ns)
		return 1;
	return made_ns < p->given_ns && (p->served == 1 || !has_threads);
}

#endif
