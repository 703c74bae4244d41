/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Programs whose tasks take turns inside threads, and whose runtime does not tell which one runs
 * (runtime_hides_tasks(): Rust's tokio, Erlang). A connection that one task opens may be used
 * by another one, and what a thread has read last may be for a task that goes on later. So of what
 * leads to a call there only counts that a thread has just read something for a request, and only
 * while this is the only open request of the process, from the moment on at which the connection
 * was asked for, if it is a new one.
 *
 * A task may also outlive the request that has made it, and call while the next one is open. That
 * cannot be seen. But calls of such programs come, as a rule, when nothing was read for an open
 * request, or are not over when the request responds. These are counted as strays, and as long as
 * they are not rare among all calls, nothing is believed.
 *
 * Whoever includes this has declared the store (see standing.h) and turn_goes_on().
 */
#ifndef CTXPROP_ENGINE_TASKS_H
#define CTXPROP_ENGINE_TASKS_H

#include "engine/alone.h"
#include "engine/stray.h"
#include "engine/verdict.h"

/*
 * The worker is about to read something for `id`; 0: it is not known for what. What it has read
 * since it slept last for a request that is over by now leads to nothing.
 */
static __always_inline void tasks_read(struct worker *w, const struct turn *turn, __u64 id)
{
	if (w->turn.switches != turn->switches)
		w->flags &= ~WORKER_MIXED;
	else if (!id || (w->read != id && (!w->read || request_standing(w->read))))
		w->flags |= WORKER_MIXED;
}

/*
 * In a process with tasks: can request `id` be the only one that is meant (tasks.h)? `s`: the
 * connection; NULL: it is about to be opened.
 */
static __always_inline int tasks_name(__u64 id, enum evidence e, const struct worker *w,
				      const struct process *p, const struct socket *s)
{
	if (!request_is_alone(id, p) || !standing_is_active(request_standing(id)))
		return 0;
	if (e == EVIDENCE_CONNECT)
		return s && s->purpose.reads == p->reads;
	if (!w || (w->flags & WORKER_MIXED))
		return 0;
	return evidence_is_reading(e) && (e != EVIDENCE_THREAD || !worker_has_paths(w));
}

/* What becomes of evidence there. Of a request that is over there is nothing to be said. */
VERIFIED_ALONE int verdict_of_tasks(struct verdict *v, const struct worker *w,
				    const struct process *p, const struct socket *s)
{
	__u64 id = v ? v->request ? v->request : v->guess : 0;
	int named;

	if (!v || !p || request_standing(id) == STANDING_NONE)
		return 0;
	named = tasks_name(id, v->evidence, w, p, s);
	if (named && v->request && process_has_habit(p, HABIT_TASKS_PROMPT))
		return 0;
	v->request = 0;
	v->guess = named ? id : 0;
	v->veto = VETO_TASKS;
	return 0;
}

#endif
