/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Who does something, what is said of whose call it is, and what of a worker and its requests many
 * rules ask for.
 *
 * Whoever includes this has declared the store (see standing.h) and turn_goes_on().
 */
#ifndef CTXPROP_ENGINE_VERDICT_H
#define CTXPROP_ENGINE_VERDICT_H

#include "engine/standing.h"

enum actor_kind {
	ACTOR_THREAD,  /* a thread */
	ACTOR_RUNTIME, /* a goroutine or task: `key` is its own, `named` what it works on */
	ACTOR_UNKNOWN, /* a runtime has workers of its own, and which one this is is not known */
};

/* What a thread that was made for a request was given to do. */
enum given {
	GIVEN_OWN,     /* something of its own */
	GIVEN_NOTHING, /* nothing: it may go for what waits somewhere */
	GIVEN_JOBS,    /* it is one of a pool, and gets one job after the other, of any request */
};

/* Who does what happens now. */
struct actor {
	struct worker_key key;
	__u8 kind;     /* enum actor_kind */
	__u8 loop;     /* enum actor_loop */
	__u8 doubtful; /* ACTOR_RUNTIME: enum doubt; ACTOR_THREAD: enum given of one that was made
			  for a request */
	__u8 by;       /* ACTOR_RUNTIME: enum evidence that `named` stands for */
	__u8 own;      /* ACTOR_RUNTIME: 1: of no request, for certain; ACTOR_THREAD that calls:
			  maybe, nobody was found who waits for the answer */
	__u8 runtime;  /* enum runtime_kind of who takes a request, connects or calls */
	__u8 phase;    /* enum actor_phase */
	union {
		__u8 tells;   /* who wakes, in Ruby: 1: not just because a lock is free */
		__u8 accepts; /* PHASE_APART: 1: a connection that has come leads to it */
		__u8 counts;  /* ACTOR_THREAD that calls: 1: what objects tell of it does */
		__u8 given;   /* who reads a request: 1: its maker has accepted the connection */
	};
	__u64 path; /* end of the user's stack, see path.h; who reads a request: the socket */
	union {     /* (there is no room for both on the stack) */
		struct turn turn; /* who reads: of the socket at hand */
		__u64 named;      /* all others, ACTOR_RUNTIME: the request that it works on, own
				     or inherited; or 0; PHASE_WORK: that the work is of; else,
				     ACTOR_THREAD that calls: which objects tell of */
	};
};

/* Is it a thread that waits for what it reads? */
static __always_inline int actor_waits(const struct actor *a)
{
	return a->kind == ACTOR_THREAD && a->loop == ACTOR_BLOCKS;
}

/* Whose idle requests may veto what the evidence says. */
enum rivals {
	RIVALS_NONE,
	RIVALS_WORKER,
	RIVALS_LATER, /* of the worker, and those that wait: something was left for later by any */
	RIVALS_PROCESS,
	RIVALS_SHARED, /* all others of the process: any loop, or child, goes on with any, any
			  thread with what stands in a list */
	RIVALS_ANY, /* of the process, and the request itself if it may be waiting for another call
		     */
};

struct verdict {
	__u64 request; /* 0: unknown */
	__u64 guess;   /* if it is not: the request that most likely waits for the call; or 0 */
	__u8 evidence; /* enum evidence */
	__u8 veto;     /* enum veto */
	__u8 rivals;   /* enum rivals */
	__u8 told;     /* 1: the runtime tells that what was read last leads to it */
	__u8 reserved[4];
};

/* Does it go from one request to another between two reads? */
static __always_inline int worker_is_loop(const struct worker *w)
{
	return (w->flags & WORKER_LOOP) || tally_active(&w->tally) > 1;
}

/* May it make calls of its own between those of requests? */
static __always_inline int worker_has_paths(const struct worker *w)
{
	return w && (worker_is_loop(w) || (w->flags & WORKER_MAYBE));
}

/*
 * Node: does it work for what other threads post to it, and has never read a request itself? What
 * it has read last is an answer then.
 */
static __always_inline int worker_is_posted(const struct worker *w)
{
	return w && (w->flags & WORKER_POSTED) && !w->taken;
}

/* What it has read last, if it is still at that. */
static __always_inline __u64 worker_reads(const struct worker *w)
{
	return turn_goes_on(&w->turn) && !(w->flags & (WORKER_SPENT | WORKER_UNSURE)) ? w->read : 0;
}

/* The request that a worker is at now, as far as it can be known without looking at others. */
static __always_inline __u64 worker_at(const struct worker *w)
{
	__u64 own = worker_is_loop(w) ? 0 : worker_only(w);

	if (own)
		return own;
	if (w->inherited_by == EVIDENCE_TASK)
		return w->flags & WORKER_DONE ? 0 : w->inherited;
	return worker_is_loop(w) || worker_is_posted(w) ? worker_reads(w) : 0;
}

/*
 * Is it the only request of the process? Then nobody is its rival. It may seem to be its own one:
 * another thread that has changed its standing may be interrupted before the tally says so.
 */
static __always_inline int request_is_alone(__u64 id, const struct process *p)
{
	const struct request *r = request_lookup(id);

	return r && p && process_lookup(&r->worker.tgid) == p && p->tally.open == 1 &&
	       !p->tally.unattributed;
}

/* Does the evidence say no more than that the thread has read something? */
static __always_inline int evidence_is_reading(enum evidence e)
{
	return e == EVIDENCE_THREAD || e == EVIDENCE_LOOP || e == EVIDENCE_ANSWER;
}

#endif
