/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Which request a call belongs to: evidence names one, elimination may veto it.
 *
 * Whoever includes this has declared the store (see standing.h), turn_goes_on() and
 * turn_may_have_others().
 */
#ifndef CTXPROP_ENGINE_DECIDE_H
#define CTXPROP_ENGINE_DECIDE_H

#include "engine/alone.h"
#include "engine/same_turn.h"
#include "engine/phase.h"
#include "runtimes/runtime.h"
#include "engine/tasks.h"
#include "runtimes/traits.h"

/* What is asked of the engine: whose is this? */
enum occasion {
	OCCASION_FIRST,  /* a connect, or the first call on its connection */
	OCCASION_REUSED, /* a call on a connection that has had calls before */
	OCCASION_WORK,   /* what the actor works on at this moment: no call begins */
};

/* May others of its requests be the worker's, too, which it read before it was known? */
static __always_inline int process_has_early(const struct process *p, const struct worker *w)
{
	return p->early && tally_open(&p->tally) > tally_open(&w->tally);
}

/*
 * Who could be meant beside what a thread or loop has read, as far as it is not more than `else_`:
 * any request where threads say nothing, or have left what they had read to others. Nor is a thread
 * believed that reads from sockets that do not block, while others do, until those who call were
 * seen to read the answers.
 */
static __always_inline enum rivals rivals_of_reader(const struct worker *w, const struct process *p,
						    enum rivals else_)
{
	if (!p)
		return else_;
	if (!worker_has_paths(w))
		return process_has_habit(p, HABIT_THREADS_KEEP) ? else_ : RIVALS_SHARED;
	if (!process_has_habit(p, HABIT_LOOPS_APART) || process_has_early(p, w))
		return RIVALS_SHARED;
	if (!(w->flags & WORKER_LOOP) && !process_has_habit(p, HABIT_THREADS_STAY) &&
	    tally_open(&p->tally) > tally_open(&w->tally))
		return RIVALS_SHARED;
	return else_;
}

/*
 * Who could be meant beside the only request `own` of a thread. Where threads were seen to do all
 * that waits in a list, also what others wait for, the first call is for its own.
 */
static __always_inline enum rivals rivals_of_thread(const struct worker *w, const struct process *p,
						    __u64 own)
{
	int next =
	    !process_has_habit(p, HABIT_SERVES_OWN) && request_standing(own) == STANDING_ANSWERED;

	return rivals_of_reader(w, p, next ? RIVALS_SHARED : RIVALS_NONE);
}

/* What a loop, or a thread with several requests, has read last. */
static __always_inline struct verdict evidence_of_loop(const struct worker *w,
						       const struct process *p,
						       const struct actor *a,
						       enum occasion occasion)
{
	struct verdict v = {.evidence = w->read_by,
			    .told = a->phase == PHASE_READING || a->phase == PHASE_ASKED};

	v.rivals = rivals_of_reader(w, p, a->phase == PHASE_LATER ? RIVALS_LATER : RIVALS_WORKER);
	if (!w->read && !(w->flags & (WORKER_SPENT | WORKER_UNSURE)))
		return v;
	if (!turn_goes_on(&w->turn))
		return v;
	if (occasion == OCCASION_WORK && !v.told && turn_may_have_others(&w->turn))
		return v;
	if (a->own && w->read_by == EVIDENCE_ANSWER)
		return v;
	if (rule_is_off(RULE_BY(w->read_by)))
		return v;
	if ((w->flags & WORKER_SPENT) && !rule_is_off(RULE_VETO(VETO_SPENT)))
		v.veto = VETO_SPENT;
	else if ((w->flags & WORKER_UNSURE) && !rule_is_off(RULE_VETO(VETO_IDLE_LOOP)))
		v = (struct verdict){
		    .veto = VETO_IDLE_LOOP, .evidence = w->read_by, .guess = w->read};
	else
		v.request = w->read;
	return v;
}

/*
 * Are the threads of a process, or the children that it makes, made for one request each? Then
 * whose calls a new one makes is certain, unless it may go for whatever waits somewhere.
 */
static __always_inline int process_makes_for_requests(const struct process *p,
						      const struct worker *w)
{
	if (!p)
		return 0;
	if (w->maker)
		return process_has_habit(p, HABIT_CHILDREN_END);
	return process_has_habit(p, HABIT_THREADS_END);
}

/*
 * What a thread took out of a queue. Once it has woken who waited for that, it may go on with what
 * others wait for.
 */
static __always_inline struct verdict evidence_of_item(const struct worker *w,
						       const struct process *p)
{
	int others = (w->flags & WORKER_DONE) || !process_has_habit(p, HABIT_SERVES_OWN);

	return (struct verdict){.request = w->inherited,
				.evidence = EVIDENCE_TASK,
				.rivals = others ? RIVALS_SHARED : RIVALS_NONE};
}

/*
 * May a thread that was made for a request be at any other one's by now? One of a pool may, and so
 * may one that has woken who waited for its call: it may go on with what others wait for.
 */
static __always_inline int inherit_goes_on(const struct worker *w, const struct process *p,
					   const struct actor *a)
{
	return (w->flags & WORKER_DONE) || a->doubtful == GIVEN_JOBS ||
	       !process_has_habit(p, HABIT_SERVES_OWN);
}

/*
 * Who may be meant beside the request of who made or woke a worker. A process may be one of a pool
 * that is made with the first requests.
 */
static __always_inline enum rivals
rivals_of_inherited(const struct worker *w, const struct process *p, const struct actor *a)
{
	if (w->maker || !process_has_habit(p, HABIT_LOOPS_APART))
		return RIVALS_SHARED;
	if (w->inherited_by == EVIDENCE_FORK && inherit_goes_on(w, p, a))
		return RIVALS_SHARED;
	if (a->doubtful == GIVEN_NOTHING)
		return RIVALS_ANY;
	return w->inherited_by == EVIDENCE_WAKE && runtime_waits_for_lock(a->runtime)
		   ? RIVALS_ANY
		   : RIVALS_PROCESS;
}

/* Of a thread or process that was made for a request. */
static __always_inline enum rivals rivals_of_made(const struct worker *w, const struct process *p,
						  const struct actor *a)
{
	if (!w->maker && (inherit_goes_on(w, p, a) || !process_has_habit(p, HABIT_LOOPS_APART)))
		return RIVALS_SHARED;
	return a->doubtful && !w->maker ? RIVALS_ANY : RIVALS_NONE;
}

/* Who may be meant beside what a runtime names. */
static __always_inline enum rivals rivals_of_named(const struct actor *a)
{
	if (a->doubtful == DOUBT_ALL)
		return RIVALS_SHARED;
	return a->doubtful ? RIVALS_ANY : RIVALS_NONE;
}

/* What a runtime names (a goroutine, a task, an object). */
static __always_inline struct verdict verdict_of_runtime(const struct actor *a)
{
	return (struct verdict){.request = rule_is_off(RULE_BY(a->by)) ? 0 : a->named,
				.evidence = a->by,
				.rivals = rivals_of_named(a)};
}

/*
 * What another thread has done for a request: who goes on with it may begin what others wait for.
 * So may one that does what others post to it, though it has no requests itself.
 */
static __always_inline struct verdict evidence_of_work(const struct worker *w,
						       const struct actor *a)
{
	return (struct verdict){.request = a->named,
				.evidence = EVIDENCE_WORK,
				.rivals = worker_is_posted(w) ? RIVALS_SHARED : RIVALS_LATER};
}

/* The answer that it has read, to a call which came of what was posted. */
static __always_inline struct verdict evidence_of_posted(const struct worker *w)
{
	return (struct verdict){
	    .request = worker_reads(w), .evidence = EVIDENCE_ANSWER, .rivals = RIVALS_SHARED};
}

/* Does what a loop has read last not lead to what it does now? */
static __always_inline int actor_is_apart(const struct actor *a)
{
	return a->phase == PHASE_APART || a->phase == PHASE_WORK;
}

/*
 * Does a thread go from one request to another between two reads? One that waits for what it reads
 * makes calls for its request only, as a rule; but what epoll tells it of may be timers, too.
 */
static __always_inline int worker_takes_turns(const struct worker *w, const struct actor *a,
					      enum occasion occasion)
{
	return worker_is_loop(w) ||
	       (occasion == OCCASION_WORK && w->turn.item && !runtime_has_selectors(a->runtime));
}

/* The evidence of highest rank for what the actor does now. */
static __always_inline struct verdict evidence_of(const struct worker *w, const struct process *p,
						  const struct actor *a, const struct socket *s,
						  enum occasion occasion)
{
	int opened = s && occasion == OCCASION_FIRST;
	int turns = w && worker_takes_turns(w, a, occasion);
	__u64 own = w && !actor_is_apart(a) && !turns ? worker_only(w) : 0;

	if (own && !rule_is_off(RULE_BY(EVIDENCE_THREAD)))
		return (struct verdict){.request = own,
					.evidence = EVIDENCE_THREAD,
					.rivals = rivals_of_thread(w, p, own)};
	if (w && w->inherited && w->inherited_by == EVIDENCE_TASK &&
	    !rule_is_off(RULE_BY(EVIDENCE_TASK)))
		return evidence_of_item(w, p);
	if (w && w->made_for && process_makes_for_requests(p, w) &&
	    !rule_is_off(RULE_BY(EVIDENCE_FORK)))
		return (struct verdict){.request = w->made_for,
					.evidence = EVIDENCE_FORK,
					.rivals = rivals_of_made(w, p, a)};
	if (opened && s->purpose.veto)
		return (struct verdict){.veto = s->purpose.veto, .guess = s->purpose.request};
	if (opened && s->purpose.request && !rule_is_off(RULE_BY(EVIDENCE_CONNECT)))
		return (struct verdict){.request = s->purpose.request,
					.evidence = EVIDENCE_CONNECT,
					.rivals =
					    worker_is_posted(w) ? RIVALS_SHARED : RIVALS_NONE};
	if (a->phase == PHASE_WORK && !rule_is_off(RULE_BY(EVIDENCE_WORK)))
		return evidence_of_work(w, a);
	if (actor_is_apart(a))
		return (struct verdict){};
	if (worker_is_posted(w) && a->phase == PHASE_READING && w->read_by == EVIDENCE_ANSWER &&
	    !rule_is_off(RULE_BY(EVIDENCE_ANSWER)))
		return evidence_of_posted(w);
	if (turns)
		return evidence_of_loop(w, p, a, occasion);
	if (w && w->inherited && !rule_is_off(RULE_BY(w->inherited_by)))
		return (struct verdict){.request = w->inherited,
					.evidence = w->inherited_by,
					.rivals = rivals_of_inherited(w, p, a)};
	return (struct verdict){};
}

/*
 * Who counts as a rival. A connection that an answer has freed may be given to a request that
 * waits for one. One that has an answer may use it later, from a timer, say: where no call ever
 * came late, it is believed to wait for the rest. Not so where an answer has led to a call already:
 * several requests may have waited for that answer, which one of them has asked for. A loop may
 * work on any that does not wait for an answer: one whose connection was opened meanwhile, or one
 * whose response has begun.
 */
static __always_inline __u32 rival_kinds(const struct verdict *v, const struct worker *w,
					 const struct process *p, enum occasion occasion)
{
	int faithful = process_has_habit(p, HABIT_FAITHFUL);
	int prompt = process_has_habit(p, HABIT_PROMPT);
	__u32 kinds = process_has_habit(p, HABIT_ANSWERS_APART) ? 0 : RIVAL_UNSURE;

	if (occasion == OCCASION_WORK && v->rivals == RIVALS_WORKER)
		return RIVAL_ANSWERED | RIVAL_CONNECTING | RIVAL_RESPONDING;
	if (v->evidence == EVIDENCE_ANSWER && w && w->flags & WORKER_ASKED)
		kinds |= RIVAL_ANSWERED;
	if (occasion == OCCASION_REUSED && v->evidence == EVIDENCE_ANSWER && !faithful)
		kinds |= RIVAL_CONNECTING;
	if (!prompt || (v->evidence != EVIDENCE_LOOP && !faithful))
		kinds |= RIVAL_ANSWERED;
	return kinds;
}

/* Is a runtime in doubt (enum doubt) of the request that it names, so that another may be meant? */
static __always_inline int process_doubts(const struct process *p, __u32 doubtful,
					  enum standing named)
{
	if (doubtful == DOUBT_ALL)
		return p && tally_open(&p->tally) > 1;
	return doubtful && process_has_others(p, named);
}

/*
 * Who is woken may take something else than what he was woken for: also the next part of a request
 * that waits for one part already, connects for it, or has got it.
 */
static __always_inline int wake_has_rivals(const struct verdict *v, const struct process *p,
					   enum standing named)
{
	return v->evidence == EVIDENCE_WAKE && !tally_is_alone(&p->tally, named);
}

/*
 * Is another request idle that the worker has read after the last call which was counted as
 * unattributed? Then none of these is that request's, however many there are.
 */
VERIFIED_ALONE int has_newer_rivals(const struct worker *w, __u64 named)
{
	__u32 newer;

	if (!w)
		return 0;
	newer = w->taken - w->counted;
	for (__u32 i = 1; i <= WORKER_HELD && i <= newer; i++) {
		__u64 id = w->held[(w->taken - i) & (WORKER_HELD - 1)];

		if (id != named && request_standing(id) == STANDING_IDLE)
			return 1;
	}
	return 0;
}

/* Could another request than the one that is named, which has this standing, have made the call? */
static __always_inline enum veto veto_of_rivals(const struct verdict *v, const struct worker *w,
						const struct process *p, enum standing named,
						__u32 kinds)
{
	if (v->rivals == RIVALS_WORKER && w &&
	    (has_rivals(&w->tally, named, kinds) || has_newer_rivals(w, v->request)))
		return VETO_IDLE_LOOP;
	if (v->rivals == RIVALS_LATER && w && !tally_is_alone(&w->tally, named))
		return VETO_IDLE_LOOP;
	if (v->rivals == RIVALS_PROCESS && p &&
	    (has_rivals(&p->tally, named, kinds) || wake_has_rivals(v, p, named)))
		return VETO_IDLE_PROCESS;
	if (v->rivals == RIVALS_SHARED && p && tally_open(&p->tally) > 1)
		return VETO_IDLE_PROCESS;
	if (v->rivals == RIVALS_ANY &&
	    (process_has_others(p, named) || (p && wake_has_rivals(v, p, named))))
		return VETO_IDLE_PROCESS;
	return VETO_NONE;
}

/* What speaks against it: the request is over, or others could have made the call. */
static __always_inline enum veto veto_now(const struct verdict *v, const struct worker *w,
					  const struct process *p, enum occasion occasion)
{
	enum standing named = request_standing(v->request);
	__u32 kinds = rival_kinds(v, w, p, occasion);
	enum veto veto;

	if (named == STANDING_NONE && !rule_is_off(RULE_VETO(VETO_ENDED)))
		return VETO_ENDED;
	veto = veto_unless_off(veto_of_rivals(v, w, p, named, kinds));
	if (veto)
		return veto;
	if (v->rivals == RIVALS_WORKER && w && !v->told && !process_has_habit(p, HABIT_DIRECT) &&
	    same_turn_has(w, v->request))
		return veto_unless_off(VETO_SAME_TURN);
	return VETO_NONE;
}

/*
 * The same, with patience: while another thread changes the request's standing, it is counted
 * among the idle ones for some ns longer.
 */
VERIFIED_ALONE int veto_of(const struct verdict *v, const struct worker *w, const struct process *p,
			   enum occasion occasion)
{
	enum veto veto = VETO_NONE;

	if (!v)
		return VETO_NONE;
	for (int look = 0; look < 3; look++) {
		veto = veto_now(v, w, p, occasion);
		if (veto != VETO_IDLE_PROCESS)
			break;
	}
	return veto;
}

/* Can what was read last not be the cause, because of the way that the call came? */
static __always_inline enum veto veto_of_path(struct worker *w, const struct process *p,
					      enum standing named, __u32 path)
{
	int new = paths_is_new(&w->paths, path);

	if (!rule_is_off(RULE_VETO(VETO_OWN_PATH)) &&
	    (own_paths_have(&w->paths.own, path) || (p && own_paths_have(&p->own, path)))) {
		w->paths.hidden++;
		return VETO_OWN_PATH;
	}
	if (named != STANDING_WAITING)
		paths_add_seen(&w->paths, path);
	new = new && !rule_is_off(RULE_VETO(VETO_NEW_PATH));
	return new && (w->paths.own.made || (p && p->own.made)) ? VETO_NEW_PATH : VETO_NONE;
}

/* Does the one who has read the request send, but maybe what somebody else has put into a list? */
static __always_inline int call_may_be_listed(const struct verdict *v, const struct actor *a,
					      const struct socket *s)
{
	const struct request *r = s && (s->flags & SOCKET_LIST) ? request_lookup(v->request) : NULL;

	return r && worker_key_is(&r->worker, &a->key);
}

/* Why is nothing known of a call although requests are open in its process? */
static __always_inline enum veto veto_of_nothing(const struct process *p, const struct actor *a)
{
	if (a->kind == ACTOR_UNKNOWN && (!a->runtime || a->runtime == RUNTIME_WANTED))
		return VETO_RUNTIME;
	if (a->own && a->kind == ACTOR_RUNTIME)
		return VETO_OWN_PATH;
	return p && p->workers.refused ? VETO_SHARE : VETO_NO_EVIDENCE;
}

/*
 * The process whose requests a worker may be at: its own, or, where that was made for a request of
 * another one and has none itself, its maker's; NULL: that is gone.
 */
static __always_inline const struct process *process_of_requests(const struct worker *w,
								 const struct process *p)
{
	return w && w->maker && !tally_open(&w->tally) ? process_maker(w, NULL) : p;
}

/*
 * The one decision, of calls and of work: the request that the actor works on, as far as evidence
 * names one, and what of all that may be meant beside it speaks against that. Changes nothing.
 * `p`: as process_of_requests() has it. `s`: the connection; NULL: it is about to be opened, or no
 * call begins.
 */
static __always_inline struct verdict
verdict_of_actor(const struct worker *w, const struct process *p, const struct actor *a,
		 const struct socket *s, enum occasion occasion)
{
	struct verdict v = {};

	if (a->kind == ACTOR_RUNTIME)
		v = verdict_of_runtime(a);
	else if (a->kind == ACTOR_THREAD)
		v = evidence_of(w, p, a, s, occasion);
	if (process_has_tasks(p) && !rule_is_off(RULE_VETO(VETO_TASKS)))
		verdict_of_tasks(&v, w, p, s);
	if (v.request && call_may_be_listed(&v, a, s))
		v.rivals = RIVALS_SHARED;
	if (v.request && !v.veto)
		v.veto = veto_of(&v, w, p, occasion);
	if (v.veto == VETO_IDLE_PROCESS && request_is_alone(v.request, p))
		v.veto = VETO_NONE;
	return v;
}

/* Does an answer, which was read last, name who goes on with it, while somebody may be waiting? */
static __always_inline int answer_is_unsure(const struct verdict *v, const struct worker *w)
{
	return v->request && !v->veto && v->evidence == EVIDENCE_ANSWER && w &&
	       !(w->flags & WORKER_FREE) && !rule_is_off(RULE_VETO(VETO_IDLE_LOOP));
}

/* What is left of a verdict: a request for certain, or why there is none. */
static __always_inline void verdict_conclude(struct verdict *v, const struct process *p,
					     const struct actor *a)
{
	if (!v->request && (!p || !tally_open(&p->tally)))
		v->veto = VETO_NONE; /* there is none that it could belong to */
	else if (!v->request && !v->veto)
		v->veto = veto_unless_off(veto_of_nothing(p, a));
	if (v->veto || !v->request) {
		v->request = 0;
		v->evidence = EVIDENCE_NONE;
	}
}

/*
 * The cause of a call, or of a connect (`s`: NULL). If it is the first one on its socket, what that
 * was opened for counts; otherwise the connection is `reused`. A process that was made for a
 * request of another one, and has none of its own, may be at any of its maker's.
 */
static __always_inline struct verdict decide(struct worker *w, const struct process *p,
					     const struct actor *a, const struct socket *s,
					     int reused)
{
	struct verdict v;

	p = process_of_requests(w, p);
	v = verdict_of_actor(w, p, a, s, reused ? OCCASION_REUSED : OCCASION_FIRST);
	if (v.request && !v.veto && evidence_is_reading(v.evidence) && a->phase != PHASE_ASKED &&
	    worker_has_paths(w)) {
		v.veto = veto_of_path(w, p, request_standing(v.request), (__u32)a->path);
		v.guess = v.veto == VETO_NEW_PATH ? v.request : 0;
	}
	if (v.veto == VETO_IDLE_LOOP && v.evidence == EVIDENCE_WORK)
		v.guess = v.request;
	if (v.request && !v.veto && v.evidence == EVIDENCE_ANSWER && w)
		w->flags |= WORKER_GOES_ON;
	if (answer_is_unsure(&v, w)) {
		v.veto = VETO_IDLE_LOOP;
		v.guess = v.request;
	}
	verdict_conclude(&v, p, a);
	return v;
}

/*
 * What the actor works on at this moment: the request to which a call would belong that it began
 * now, as far as that can be known without one. Changes nothing.
 */
static __always_inline struct verdict decide_work(const struct worker *w, const struct process *p,
						  const struct actor *a)
{
	struct verdict v;

	p = process_of_requests(w, p);
	v = verdict_of_actor(w, p, a, NULL, OCCASION_WORK);
	if (answer_is_unsure(&v, w))
		v.veto = VETO_IDLE_LOOP;
	verdict_conclude(&v, p, a);
	return v;
}

/* Is nothing against what a loop has read last but that others of its requests may be meant? */
static __always_inline int veto_is_of_rivals(enum veto veto)
{
	return veto == VETO_IDLE_LOOP || veto == VETO_SAME_TURN || veto == VETO_SPENT;
}

/*
 * What becomes of a verdict by what objects tell of the call (objects.h): if that is the request
 * for which a loop has read something last, in this turn, others are no rivals.
 */
static __always_inline struct verdict verdict_of_objects(const struct verdict *v,
							 const struct worker *w,
							 const struct process *p,
							 const struct actor *a)
{
	int told = a->kind == ACTOR_THREAD && a->counts && a->phase != PHASE_WORK;

	if (!told || !veto_is_of_rivals(v->veto) || !w || w->read != a->named)
		return *v;
	if (!p || !process_has_habit(p, HABIT_LOOPS_APART) || !(w->flags & WORKER_LOOP))
		return *v;
	if (rule_is_off(RULE_BY(EVIDENCE_OBJECT)))
		return *v;
	if (!turn_goes_on(&w->turn) || !standing_is_active(request_standing(a->named)))
		return *v;
	return (struct verdict){.request = a->named, .evidence = EVIDENCE_OBJECT};
}

#endif
