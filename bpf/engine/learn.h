/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What calls and connects teach of the process that begins them: how it does things, and where it
 * makes calls of its own. Whoever includes this has declared the store.
 */
#ifndef CTXPROP_ENGINE_LEARN_H
#define CTXPROP_ENGINE_LEARN_H

#include "engine/decide.h"

/*
 * A process reads a request. If it is known by now what it runs (enum runtime_kind), what it has
 * taught before that, taken for something else, is void; not what is open or outstanding, nor where
 * it calls while nothing is.
 */
static __always_inline void learn_runtime(struct process *p, __u8 runtime)
{
	if (p->runtime == runtime || runtime <= RUNTIME_WANTED)
		return;
	p->runtime = runtime;
	process_void_habits(p);
}

/* The call is some request's, not known whose: what was read last is not believed again. */
static __always_inline int verdict_spends(const struct verdict *v, struct worker *w)
{
	if (v->guess || (v->veto != VETO_IDLE_LOOP && v->veto != VETO_IDLE_PROCESS &&
			 v->veto != VETO_SAME_TURN))
		return 0;
	if (w && (v->veto == VETO_IDLE_LOOP || v->veto == VETO_SAME_TURN))
		w->flags |= WORKER_SPENT;
	if (w && v->veto == VETO_IDLE_PROCESS)
		w->inherited = 0;
	if (w)
		w->counted = w->taken;
	return 1;
}

/* Has a worker just read the answer to a call of which is not known whose it was? */
static __always_inline int worker_goes_on_unknown(const struct worker *w)
{
	return w && !w->read && w->read_by == EVIDENCE_ANSWER && turn_goes_on(&w->turn);
}

/* Something began with what it was made for, which is kept by two habits. */
static __always_inline void process_keeps_prompt(struct process *p)
{
	process_keeps(p, HABIT_PROMPT);
	process_keeps(p, HABIT_TASKS_PROMPT);
}

/*
 * A call, or connect, of a process with tasks. What was opened for a request that is over by now
 * may be used by another one, so that this is no stray.
 */
static __always_inline void learn_tasks(struct process *p, const struct worker *w,
					const struct verdict *v, int reused)
{
	if (!process_has_tasks(p) || v->request)
		return;
	if (v->veto == VETO_TASKS && v->guess)
		process_keeps_prompt(p);
	else if ((v->veto == VETO_ENDED ? reused
					: v->veto == VETO_NONE || v->veto == VETO_NO_EVIDENCE) &&
		 !worker_goes_on_unknown(w))
		process_breaks(p, HABIT_TASKS_PROMPT);
}

/* A call (or connect) of a loop that no request can have made tells where it makes its own. */
static __always_inline void learn_path(const struct verdict *v, struct worker *w,
				       const struct process *p, const struct actor *a)
{
	if (v->request || !p || !w || !worker_has_paths(w) || a->kind != ACTOR_THREAD ||
	    a->phase >= PHASE_ASKED)
		return;
	/* What a thread of a pool does may be for a request that another one has read. */
	if (!worker_is_loop(w) && tally_open(&p->tally))
		return;
	if (has_rivals(&w->tally, STANDING_NONE, RIVAL_ANSWERED))
		return;
	if (v->veto != VETO_ENDED && tally_open(&p->tally) && turn_goes_on(&w->turn))
		return;
	own_paths_add(&w->paths.own, (__u32)a->path);
	w->paths.shown++;
}

/*
 * So does one that is made while there are none; its thread may not be known yet. What a loop
 * does beside what it has read is told apart anyway.
 */
static __always_inline void learn_own(struct process *p, const struct actor *a)
{
	if (!actor_is_apart(a) && a->phase != PHASE_ASKED && !tally_open(&p->tally))
		own_paths_add(&p->own, (__u32)a->path);
}

/* Where it is told what comes of reading, paths are learnt anew. */
static __always_inline void learn_phases(struct worker *w, struct process *p, const struct actor *a)
{
	if (a->phase != PHASE_READING)
		return;
	if (w)
		own_paths_tell_phases(&w->paths.own);
	if (p)
		own_paths_tell_phases(&p->own);
}

/* A worker begins a call or connect: does what it has read last lead to it? */
static __always_inline void learn_direct(const struct verdict *v, struct worker *w,
					 struct process *p)
{
	if (w && p)
		same_turn_calls(w, p, v->request, v->request || v->veto == VETO_SAME_TURN);
}

/* Is the cause what a loop has read in this turn, a request or an answer? */
static __always_inline int verdict_is_prompt(const struct verdict *v)
{
	return v->evidence == EVIDENCE_LOOP || v->evidence == EVIDENCE_ANSWER;
}

/* Do calls come as soon as what they are made for is read, or later, too? */
static __always_inline void learn_prompt(struct process *p, const struct verdict *v)
{
	if (v->veto == VETO_NO_EVIDENCE || v->evidence == EVIDENCE_WORK)
		process_breaks(p, HABIT_PROMPT);
	else if (verdict_is_prompt(v))
		process_keeps_prompt(p);
}

/*
 * A connect tells the same, as far as it takes to be prompt: its call is not counted later. (But
 * not that anything is late: Node makes handles for others, too.)
 */
static __always_inline void learn_prompt_connect(struct process *p, const struct verdict *v)
{
	if (p->habit[HABIT_PROMPT].kept < habit_rules[HABIT_PROMPT].least && verdict_is_prompt(v))
		process_keeps_prompt(p);
}

/*
 * What was left for later when a request got an answer begins a call after that request is over:
 * others go on with its connection.
 */
static __always_inline void learn_later(struct process *p, const struct worker *w,
					const struct actor *a, const struct verdict *v)
{
	if (v->veto == VETO_ENDED && a->phase == PHASE_ASKED && w && w->read_by == EVIDENCE_ANSWER)
		process_breaks(p, HABIT_KEEPS_TURN);
}

/* A thread, or child, that outlives the request which it was made for may serve any other next. */
static __always_inline void learn_inherit(struct process *p, const struct worker *w)
{
	if (!w || !w->made_for || request_standing(w->made_for) != STANDING_NONE)
		return;
	p = process_maker(w, p);
	if (p && w->maker)
		process_breaks(p, HABIT_CHILDREN_END);
	else if (p)
		process_breaks(p, HABIT_THREADS_END);
}

/*
 * Whether requests that wait for a connection are given those that are freed meanwhile is the
 * program's secret. If some were freed, and nobody but their last user may have used them until
 * the connect was over, they were not.
 */
static __always_inline void learn_faithful(struct process *p, const struct socket *s, int reused,
					   const struct verdict *v)
{
	if (reused && (v->veto || v->evidence == EVIDENCE_ANSWER))
		p->doubtful++;
	if (v->evidence == EVIDENCE_CONNECT && p->answers != s->purpose.answers &&
	    p->doubtful == s->purpose.doubtful)
		process_keeps(p, HABIT_FAITHFUL);
}

/*
 * A thread reads something that has to do with what the thread `with` did (0: with no one's). If
 * that is another one, or might as well be, threads say nothing.
 */
static __always_inline void learn_threads(struct process *p, const struct actor *a, __u32 with)
{
	if (p && (a->loop == ACTOR_LOOP_ANY || (with && with != a->key.tid)))
		process_breaks(p, HABIT_LOOPS_APART);
}

/*
 * Thread `tid` begins the response to a request. If a thread that waits for what it reads had read
 * it, and that is another one, it left the request to others, and may be at anybody's by now.
 */
static __always_inline void learn_response(struct process *p, __u64 request, __u32 tid)
{
	enum standing standing = request_standing(request);
	const struct request *r = request_lookup(request);

	if (!p || !r || standing == STANDING_NONE || standing == STANDING_RESPONDING)
		return;
	if (r->worker.tid != tid)
		process_breaks(p, HABIT_THREADS_KEEP);
}

/*
 * A thread that has read requests, from sockets that do not block, reads the answer to a call, for
 * the request `r` (NULL: it is not known for which).
 */
static __always_inline void learn_answer(struct process *p, const struct actor *a,
					 const struct call *c, const struct request *r)
{
	if (!p || !c || c->tgid != a->key.tgid)
		return;
	learn_threads(p, a, c->tid);
	if (r && r->worker.tgid == a->key.tgid)
		learn_threads(p, a, r->worker.tid);
	process_keeps(p, HABIT_THREADS_STAY);
}

#endif
