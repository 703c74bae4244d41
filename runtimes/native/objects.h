/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What objects of a program tell of its calls, and when it counts. They are found in the memory of
 * programs in C and the like (runtimes/native/objects.bpf.h), of which no type is known: the object
 * of a connection leads to that of a request, maybe to the one that the call is for, since the
 * program has to know that when the answer comes. But it may know it in another way, note it later
 * than it sends, or still have noted what was before. So objects never name a request by
 * themselves; they speak against rivals of the one for which a loop has read something last, if
 * - all open requests are known to have an object each: beside those of one that has none, others
 *   would be found;
 * - no other one's is at hand, or as near, or a step farther away;
 * - of the call before on this connection they told the same when it was sent and when its answer
 *   came, before the request was over;
 * - connections were seen to lead to nobody between calls, while the request of the last one was
 *   open. So it is not left from that one, nor is it something that they always lead to (whoever
 *   opened them, say, the oldest request of all, or what the loop is at).
 *
 * Whoever includes this has declared the store (see standing.h).
 */
#ifndef CTXPROP_RUNTIMES_NATIVE_OBJECTS_H
#define CTXPROP_RUNTIMES_NATIVE_OBJECTS_H

#include "engine/decide.h"
#include "runtimes/runtime.h"

/* In place of a request: there are objects of the connection, but they lead to none. */
#define OBJECTS_NO_REQUEST (~0ULL)

/* What they tell of a call. */
struct objects_told {
	__u64 request; /* OBJECTS_NO_REQUEST; 0: nothing */
	__u64 from;    /* the object of the connection, if there is but one; */
	__u64 by;      /* the one that stands for the request, */
	__u32 shape;   /* and a number for the way to it */
	__u32 only;    /* 1: nothing else of any request is at hand, or near */
};

/* Is it worth while to look? */
static __always_inline int objects_are_wanted(const struct runtime_objects *o)
{
	return !o->wrong && o->looks < OBJECTS_LOOKS;
}

/* The same of a request that is taken up: not where nobody calls. It is looked at, then. */
static __always_inline int objects_are_read(struct runtime_objects *o)
{
	return objects_are_wanted(o) && o->reads < OBJECTS_LOOKS && ++o->reads;
}

/*
 * A call begins on a connection, of which this is told: in place of what was of the last one.
 * Returns whether it counts. `p`: its process, or NULL.
 */
static __always_inline int objects_note(struct runtime_objects *o, struct socket *s,
					const struct process *p, const struct objects_told *told)
{
	s->told = told->request;
	s->told_shape = told->shape;
	o->looks++;
	if (!s->told || !told->only || !p || p->objects < tally_open(&p->tally))
		return 0;
	if (!rule_is_off(RULE_HABIT(HABIT_OBJECTS_CLEAR)) &&
	    (!o->kept || o->shape != told->shape ||
	     o->cleared < habit_rules[HABIT_OBJECTS_CLEAR].least))
		return 0;
	return !s->calls_end || (s->flags & SOCKET_KEPT);
}

/* Whose the call is was decided. They may have told something else than what is certain. */
static __always_inline void objects_decided(struct runtime_objects *o, const struct socket *s,
					    const struct call *c)
{
	int named = s->told && s->told != OBJECTS_NO_REQUEST;

	if (named && c->evidence && c->request != s->told) {
		o->kept = 0;
		o->wrong = ++o->disputes >= OBJECTS_DISPUTES;
	} else if (c->evidence == EVIDENCE_OBJECT ||
		   (!c->evidence && c->veto && o->kept == OBJECTS_KEPT)) {
		o->looks = 0;
	}
}

/* They tell the same when the answer comes. */
static __always_inline void objects_keep(struct runtime_objects *o, struct socket *s)
{
	if (s->told_shape == o->bad_shape)
		return;
	s->flags |= SOCKET_KEPT;
	if (o->shape == s->told_shape) {
		o->kept += o->kept < OBJECTS_KEPT;
	} else if (o->kept) {
		o->kept--;
	} else {
		o->shape = s->told_shape;
		o->kept = 1;
		o->cleared = 0;
	}
}

/*
 * They do not, by a way of this shape. If it is the one that counts, another one may be right,
 * once.
 */
static __always_inline void objects_break(struct runtime_objects *o, __u32 shape)
{
	if (o->shape != shape)
		return;
	o->wrong = o->bad_shape != 0;
	o->bad_shape = shape;
	o->shape = o->kept = o->cleared = 0;
}

/*
 * The answer to a call comes, of which they told `then`, and tell this now: by the same shape if
 * that was a request. (If it is over they may have told of any that was open then.)
 */
static __always_inline void objects_learn(struct runtime_objects *o, struct socket *s, __u64 then,
					  const struct objects_told *now)
{
	if (then == OBJECTS_NO_REQUEST) {
		if (now->request && now->request != then)
			objects_break(o, now->shape);
		return;
	}
	if (request_standing(then) == STANDING_NONE || (now->request && now->request != then))
		objects_break(o, s->told_shape);
	else if (now->request)
		objects_keep(o, s);
}

/*
 * They did, and `now` leads from the only object of the connection, of this socket and descriptor:
 * on which no call is under way when the answer is over.
 */
static __always_inline void objects_idle(struct runtime_objects *o, const struct objects_told *now,
					 __u64 socket, __u32 descriptor)
{
	o->idle = (struct objects_idle){.socket = now->from ? socket : 0,
					.object = now->from,
					.by = now->by,
					.shape = now->shape,
					.descriptor = descriptor};
}

/*
 * The object of the connection that is idle leads to no request by the way that led to that of its
 * last call. (If it does, the answer may not be over.)
 */
static __always_inline void objects_clear(struct runtime_objects *o)
{
	if (o->idle.shape == o->shape && o->cleared < habit_rules[HABIT_OBJECTS_CLEAR].least)
		o->cleared++;
}

#endif
