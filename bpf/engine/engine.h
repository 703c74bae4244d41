/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The engine: what each event means for requests, workers, processes and sockets. No helper of
 * the kernel is called here; hooks (bpf/probes) and maps (the store, see decide.h) lie outside,
 * so that the same code runs in the simulation of tests/unit/engine.
 *
 *   a request is read     engine_take      its reader is the worker, or its loop
 *   a connection is asked for   engine_open   decided like a call
 *   a connect begins      engine_connect   the same, unless that was seen before
 *   a call begins         engine_call      decided; its request waits
 *   an answer is read     engine_answer    its request goes on
 *   a response begins     engine_respond   its request makes no more calls
 *   a response has ended  engine_end       (also when the connection is gone)
 *   a worker makes or wakes another        engine_hand_over (inherit.h)
 *   a worker is over      engine_exit      (the same)
 *   a process becomes another program      engine_exec (the same)
 */
#ifndef CTXPROP_ENGINE_ENGINE_H
#define CTXPROP_ENGINE_ENGINE_H

#include "engine/call_limit.h"
#include "engine/given.h"
#include "engine/inherit.h"
#include "engine/client_only.h"
#include "engine/shared.h"
#include "engine/who.h"

/* It is not called back yet: for what it reads now, unless it has not been for what it read before.
 */
static __always_inline enum called_back worker_called_back(const struct worker *w)
{
	if (w->called_back == CALLED_BACK_SEVERAL || (w->called_back == CALLED_BACK_NOT && w->read))
		return CALLED_BACK_SEVERAL;
	return CALLED_BACK_NOT;
}

/* The worker has read something for `id` (0: it is not known for what). */
static __always_inline void worker_has_read(struct worker *w, const struct actor *a, __u64 id,
					    enum evidence by)
{
	w->before = w->flags;
	tasks_read(w, &a->turn, id);
	same_turn_reads(w, id);
	w->called_back = worker_called_back(w);
	w->reads++;
	w->read = id;
	w->read_by = by;
	w->flags &= ~(WORKER_SPENT | WORKER_UNSURE | WORKER_GOES_ON | WORKER_FREE | WORKER_ROOM |
		      WORKER_TRIED);
	w->turn = a->turn;
}

/* A loop has read one more request, in a new turn or in the same one; a context, in this one. */
static __always_inline void worker_freshen(struct worker *w, const struct actor *a)
{
	if (a->kind != ACTOR_THREAD) {
		w->turn = a->turn;
		return;
	}
	if (!turn_goes_on(&w->turn))
		w->fresh = 0;
	if (w->fresh < 255)
		w->fresh++;
}

/* A process has read one more request. */
static __always_inline void process_serves(struct process *p, __u32 tgid)
{
	if (!p->served)
		process_begins(tgid);
	if (p->served < PROCESS_SERVED)
		p->served++;
	__sync_fetch_and_add(&p->reads, 1);
}

/*
 * May a worker that has just read a request be shown with it until that is over? One that waits for
 * what it reads may, unless epoll tells it when, where such threads were not seen to leave requests
 * to others; one that reads without waiting, which is no loop as far as is known, if no other
 * request is open, or where those who call were seen to read the answers; goroutines and the like.
 * A loop goes on to others' requests, and nothing tells when.
 */
static __always_inline int worker_shows(const struct worker *w, const struct process *p,
					const struct actor *a)
{
	if (process_has_tasks(p))
		return 0;
	if (a->kind != ACTOR_THREAD)
		return 1;
	if (a->loop == ACTOR_BLOCKS)
		return (!a->turn.item || runtime_has_selectors(a->runtime)) &&
		       process_has_habit(p, HABIT_THREADS_KEEP);
	return a->loop == ACTOR_LOOP_MAYBE && !(w->flags & WORKER_LOOP) &&
	       (process_has_habit(p, HABIT_THREADS_STAY) || !tally_open(&p->tally));
}

/* A worker reads the first byte of a request. Returns the worker's entry, if it has one. */
static __always_inline struct worker *engine_take(__u64 id, const struct actor *a, __u64 now_ns)
{
	struct request *r = request_lookup(id);
	struct worker_key key = a->key;
	struct process *p = process_make(&key.tgid);
	struct worker *w = a->kind == ACTOR_UNKNOWN ? NULL : worker_make(&key);
	__u64 number;
	__u32 before, listed = 0;

	if (p) {
		given_reads(p, a, now_ns);
		process_serves(p, key.tgid);
		learn_runtime(p, a->runtime);
		if (!p->tally.open) {
			call_limit_disperse(&p->call_limit);
			p->early = 0;
		}
		p->early |= !w;
	}
	if (!r || !p || (r->state & STATE_TAKEN))
		return w;
	r->worker = a->key;
	r->taken_ns = now_ns < r->arrived_ns ? r->arrived_ns : now_ns;
	if (w) {
		w->held[w->taken++ & (WORKER_HELD - 1)] = id;
		worker_freshen(w, a);
		if (a->loop == ACTOR_BLOCKS)
			w->flags &= ~(WORKER_LOOP | WORKER_MAYBE);
		else
			w->flags |= a->loop == ACTOR_LOOP ? WORKER_LOOP : WORKER_MAYBE;
		learn_threads(p, a, 0);
		w->inherited = 0;
		if (worker_shows(w, p, a))
			worker_publish(w, &a->key, id, r);
		else
			worker_unpublish(w, &a->key);
	}
	number = r->request_id;
	if (number)
		r->listed = listed = request_ids_add(id_hash(a->key.tgid, number), id, r->from);
	before = w ? request_mark_of(r, STATE_TAKEN, w, p) : request_mark(r, STATE_TAKEN);
	/* It may have ended on another CPU before it was seen to be taken, or published. */
	if (number && (before & STATE_ENDED))
		request_ids_remove(id_hash(a->key.tgid, number), listed, id);
	if (w && request_is_over(r, id))
		worker_restore(w, &a->key, id);
	return w;
}

/*
 * The first request is read on a connection that is older than the probes. Whatever was read on it
 * before was nobody's request, and calls that were made for it seemed to be the program's own.
 */
static __always_inline void engine_older(struct socket *s, const struct actor *a)
{
	struct worker *w = actor_worker(a);
	struct process *p = actor_process(a);

	s->flags &= ~(SOCKET_OLDER | SOCKET_CLIENT);
	if (w)
		__builtin_memset(&w->paths, 0, sizeof(w->paths));
	if (p)
		__builtin_memset(&p->own, 0, sizeof(p->own));
}

/*
 * Bytes were read from a server socket, by thread `w` (NULL: none is known): of the request that it
 * serves, once that is known.
 */
static __always_inline void engine_read(const struct socket *s, const struct actor *a,
					struct worker *w)
{
	if (w)
		worker_has_read(w, a, s->serving, EVIDENCE_LOOP);
}

/* The call's answer has come, or will not come. */
static __always_inline void call_answered(struct call *c)
{
	struct worker_key caller = {.tgid = c->tgid, .tid = c->tid};

	if (!c->outstanding)
		return;
	c->outstanding = 0;
	if (c->request)
		request_answered(c->request);
	if (c->counted)
		unattributed_take(&caller, c->number);
	c->counted = 0;
}

/*
 * After an answer, whoever waits for a connection, or for his turn, may be given it, be it for a
 * part of a request that has begun others. So who has got the answer (`id`) is only believed to go
 * on where nobody can be waiting.
 */
static __always_inline int nobody_waits(const struct worker *w, struct process *p, __u64 id,
					int call_limit_is_free)
{
	return tally_is_alone(&w->tally, request_standing(id)) ||
	       (p && process_has_habit(p, HABIT_KEEPS_TURN) && call_limit_is_free);
}

/*
 * Somebody may wait for the room that an answer makes. In Node he who is given it at once is told
 * from who is given it when all was read (later.h).
 */
static __always_inline void worker_makes_room(struct worker *w, const struct process *p, int free)
{
	if (!p)
		return;
	if (process_has_broken(p, HABIT_SERIAL) || process_has_broken(p, HABIT_DIRECT))
		w->flags |= WORKER_ROOM;
	if (w->flags & WORKER_LATER && free && process_has_habit(p, HABIT_KEEPS_TURN))
		w->flags |= WORKER_FREE | WORKER_ROOM;
}

/* Does it go on with who waits for his turn before it reads what else has come? */
static __always_inline int gives_turns_at_once(const struct worker *w, const struct process *p)
{
	return process_has_habit(p, HABIT_DIRECT) && !(w->flags & WORKER_LATER);
}

/* The same of one that several requests use at once. */
static __always_inline void engine_answer_shared(struct socket *s, const struct actor *a,
						 struct worker *w)
{
	struct process *p = actor_process(a);
	const struct call *last = socket_last_call(s);
	__u64 id = shared_answer(s, p);

	if (p && last) {
		p->call_limit.began = 0;
		call_limit_leave(&p->call_limit, s, last->request);
	}
	if (p) {
		p->answers++;
		process_breaks(p, HABIT_ANSWERS_APART);
	}
	if (!w)
		return;
	worker_has_read(w, a, id, EVIDENCE_ANSWER);
	if (id)
		w->flags |= WORKER_FREE;
	else
		w->flags |= p && process_has_habit(p, HABIT_SERIAL) ? WORKER_UNSURE : WORKER_SPENT;
}

/* Bytes were read from a client socket, by thread `w` (NULL: none is known). */
static __always_inline void engine_answer(struct socket *s, const struct actor *a, struct worker *w)
{
	struct call *c = socket_last_call(s);
	struct process *p = actor_process(a);
	int unsure = c && (c->counted || (c->request && !c->evidence));
	const struct request *r;
	int free = 0, ends;

	if (c)
		call_answered(c);
	ends = w && !turn_goes_on(&w->turn);
	if (p && w && (ends || gives_turns_at_once(w, p)))
		call_limit_turns(&p->call_limit, ends);
	if (p && c)
		free = call_limit_answer(p, s, c);
	if (p)
		p->answers++;
	if (!w)
		return;
	worker_has_read(w, a, c ? c->request : 0, EVIDENCE_ANSWER);
	if (unsure)
		w->flags |= WORKER_UNSURE;
	if (c && c->is_among)
		w->flags |= WORKER_TRIED;
	if (nobody_waits(w, p, w->read, free & CALL_LIMIT_FREE))
		w->flags |= WORKER_FREE;
	else
		worker_makes_room(w, p, free);
	r = request_lookup(w->read);
	if (worker_has_paths(w))
		learn_answer(p, a, c, unsure ? NULL : r);
}

/* A program begins to open a connection. */
static __always_inline void engine_open(struct purpose *purpose, const struct actor *a)
{
	struct worker *w = actor_worker(a);
	__u32 tgid = a->key.tgid;
	struct process *p = process_make(&tgid);
	struct verdict v;

	learn_phases(w, p, a);
	v = decide(w, p, a, NULL, 0);
	learn_tasks(p, w, &v, 1);
	learn_direct(&v, w, p);
	learn_path(&v, w, p, a);
	if (p) {
		learn_prompt_connect(p, &v);
		learn_own(p, a);
		purpose->answers = p->answers;
		purpose->doubtful = p->doubtful;
		purpose->reads = p->reads;
	}
	purpose->flags = actor_is_apart(a) ? PURPOSE_APART : 0;
	purpose->asked = 0;
	/* Node makes handles for connections that it accepts, too. */
	if (a->phase >= PHASE_READING && a->phase <= PHASE_APART && !a->accepts)
		call_limit_ask(purpose, p);
	purpose->by = a->key;
	purpose->number = p ? p->number : 0;
	purpose->request = v.request ? v.request : v.guess;
	purpose->veto = v.request ? VETO_NONE : v.veto ? v.veto : VETO_NO_EVIDENCE;
	if (purpose->request) {
		purpose->flags |= PURPOSE_CONNECTING;
		request_add(purpose->request, STATE_CONNECT);
	} else if (verdict_spends(&v, w)) {
		purpose->flags |= PURPOSE_COUNTED;
		actor_unattributed(a);
	}
}

/* It is open, or will not be; what that was counted for is counted no more. */
static __always_inline void engine_opened(struct purpose *purpose)
{
	if (purpose->flags & PURPOSE_CONNECTING)
		request_sub(purpose->request, STATE_CONNECT);
	if (purpose->flags & PURPOSE_COUNTED) {
		struct worker_key caller = purpose->by;

		unattributed_take(&caller, purpose->number);
	}
	purpose->flags &= ~(PURPOSE_CONNECTING | PURPOSE_COUNTED);
}

/* A connect begins. `purpose`: that of before, if it was known to lead to this; else NULL. */
static __always_inline void engine_connect(struct socket *s, const struct actor *a,
					   const struct purpose *purpose)
{
	__u32 tgid;

	s->flags |= SOCKET_CLIENT;
	if (purpose)
		s->purpose = *purpose;
	else
		engine_open(&s->purpose, a);
	tgid = s->purpose.by.tgid;
	call_limit_open(&s->purpose, process_lookup(&tgid));
}

static __always_inline void call_fill(struct call *c, const struct verdict *v,
				      const struct actor *a, __u32 seq, int counted)
{
	__builtin_memset(c, 0, sizeof(*c));
	request_copy_context(v->request, &c->cause);
	c->request = v->request ? v->request : v->guess;
	c->seq = seq;
	c->evidence = v->evidence;
	c->veto = v->veto;
	c->outstanding = 1;
	c->counted = counted;
	c->tgid = a->key.tgid;
	c->tid = a->key.tid;
}

/*
 * May bytes that are sent now begin a call? Not while an answer is awaited, unless each request
 * that sends something begins one: then as many as there is room for.
 */
static __always_inline int socket_is_quiet(struct socket *s)
{
	const struct call *c = socket_last_call(s);

	if (s->flags & SOCKET_ASKS)
		return !s->call[s->calls_end & (SOCKET_CALLS - 1)].outstanding;
	return !c || !c->outstanding;
}

/* More bytes are sent by thread `w` (NULL: it has no requests) on a socket that is not quiet. */
static __always_inline void engine_send_more(struct socket *s, const struct worker *w)
{
	const struct call *c = socket_last_call(s);

	if (c && call_is_overtaken(c, w))
		s->flags |= SOCKET_SHARED;
	if ((s->flags & SOCKET_SHARED) && w && turn_goes_on(&w->turn))
		request_idles(w->read);
}

/*
 * Who opens a connection and who uses it may differ where connections to the port (`port`: its bit)
 * are kept: could another request of the loop have been given the one that was opened for `v`?
 */
static __always_inline int connection_may_be_others(const struct verdict *v, const struct worker *w,
						    const struct process *p, __u64 port)
{
	if (v->evidence != EVIDENCE_CONNECT || !w || !p || process_is_single_use(p, port))
		return 0;
	if (rule_is_off(RULE_VETO(VETO_IDLE_LOOP)))
		return 0;
	return has_rivals(&w->tally, request_standing(v->request),
			  rival_kinds(v, w, p, OCCASION_FIRST)) ||
	       has_newer_rivals(w, v->request);
}

/* What a call teaches of its process, by what was decided of it. */
static __always_inline void learn_call(struct process *p, struct worker *w, const struct socket *s,
				       const struct actor *a, const struct verdict *decided,
				       int reused)
{
	learn_prompt(p, decided);
	learn_later(p, w, a, decided);
	if (reused || !(s->purpose.flags & PURPOSE_APART))
		learn_own(p, a);
	learn_faithful(p, s, reused, decided);
}

/*
 * A call begins with the byte `seq` on a client socket that is quiet. What is decided of it teaches
 * something of the process; what objects tell beyond that only counts for the call.
 */
static __always_inline void engine_call(struct socket *s, const struct actor *a, __u32 seq,
					__u16 port)
{
	struct worker *w = actor_worker(a);
	struct process *p = actor_process(a);
	int reused = s->calls_end || (s->flags & SOCKET_OLDER), counted;
	__u64 port_bit = 1ULL << (port & 63);
	struct verdict decided, v;

	if (p && reused)
		p->single_use_broken |= port_bit;
	learn_phases(w, p, a);
	decided = decide(w, p, a, s, reused);
	learn_tasks(p, w, &decided, reused);
	request_calls(a, w);
	if (w)
		w->flags |= WORKER_CALLED;
	if (reused)
		learn_direct(&decided, w, p);
	if (connection_may_be_others(&decided, w, p, port_bit))
		decided = (struct verdict){.veto = VETO_IDLE_LOOP};
	v = verdict_of_objects(&decided, w, p, a);
	if (reused && !v.request)
		learn_path(&decided, w, p, a);
	if (p)
		learn_call(p, w, s, a, &decided, reused);
	learn_inherit(p, w);
	counted = !v.request && verdict_spends(&v, w);
	call_fill(&s->call[s->calls_end & (SOCKET_CALLS - 1)], &v, a, seq, counted);
	s->call[s->calls_end & (SOCKET_CALLS - 1)].number = p ? p->number : 0;
	s->call[s->calls_end & (SOCKET_CALLS - 1)].reads = w ? w->reads : 0;
	s->call[s->calls_end & (SOCKET_CALLS - 1)].is_among =
	    w && a->phase == PHASE_ASKED && (w->flags & WORKER_AMONG) && (v.request || v.guess);
	if (v.request || v.guess)
		request_add(v.request ? v.request : v.guess, STATE_CALL);
	if (counted)
		actor_unattributed(a);
	__sync_fetch_and_add(&s->calls_end, 1);
	engine_opened(&s->purpose);
}

/*
 * After engine_call(): the call is counted, if it is one of a loop. `peer`: a number for the peer's
 * address and port, not 0.
 */
static __always_inline void engine_call_limit(struct socket *s, const struct actor *a, __u32 peer)
{
	const struct worker *w = actor_thread(a);
	struct process *p = actor_process(a);
	const struct call *c = socket_last_call(s);

	call_limit_opened(&s->purpose);
	if (!p || !c || (!p->call_limit.tid && !(w && worker_is_loop(w))))
		return;
	if (s->calls_end > 1)
		call_limit_leave(&p->call_limit, s,
				 s->call[(s->calls_end - 2) & (SOCKET_CALLS - 1)].request);
	call_limit_call(p, s, c, peer, call_limit_asked(p, a, s, c));
}

/* Bytes are sent on a server socket by another thread than the last that has read from it. */
static __always_inline void engine_respond_for(const struct socket *s,
					       const struct record_thread *by)
{
	__u32 tgid = by->tgid;

	learn_response(process_lookup(&tgid), s->serving, by->tid);
}

/* Bytes are sent on a server socket. */
static __always_inline void engine_respond(struct socket *s)
{
	if (s->responding == s->serving)
		return;
	s->responding = s->serving;
	engine_responds(s->serving);
}

/* The last call of a socket that is closed counts no more. */
static __always_inline void call_limit_close(struct socket *s, const struct call *c)
{
	__u32 tgid = c->tgid;
	struct process *p = process_lookup(&tgid);

	if (!p || p->number != c->number)
		return;
	p->call_limit.began = 0;
	p->call_limit.closed++;
	call_limit_leave(&p->call_limit, s, c->request);
}

/* A client socket is closed. A server's requests end one by one, see engine_end(). */
static __always_inline void engine_close(struct socket *s)
{
	const struct call *c = socket_last_call(s);

	for (__u32 i = 0; i < SOCKET_CALLS; i++)
		call_answered(&s->call[i]);
	if (c && s->call_limit)
		call_limit_close(s, c);
	call_limit_opened(&s->purpose);
	engine_opened(&s->purpose);
}

#endif
