/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The rules of the engine by name: evidence and vetoes (model.h), and habits: what a process must
 * have shown before it is believed. docs/engine.md has the three tables.
 *
 * A rule can be switched off to measure what it is for. Without a kind of evidence nothing is named
 * by it; without a veto nothing is held against what the evidence names; without a habit every
 * process is believed to have it from the beginning. That makes wrong calls, so it takes a build
 * with CTXPROP_ABLATION: in all others the rules stand, and the guards leave nothing in the code.
 */
#ifndef CTXPROP_ENGINE_RULES_H
#define CTXPROP_ENGINE_RULES_H

#include "engine/model.h"

/*
 * X(id, name, least, ratio, text): habits of a process. `least`: so often it must be kept until it
 * is believed; 0: it is believed from the beginning. `ratio`: and so many times more for each time
 * that it was broken; 0: once it was broken it is not believed again. That is for
 * process_has_habit() (habits.h), which has the exceptions.
 */
#define CTXPROP_HABITS(X)                                                                          \
	X(FAITHFUL, "faithful", 2, 0,                                                              \
	  "a connection is used by the request that it was opened for, although others were "      \
	  "freed meanwhile")                                                                       \
	X(PROMPT, "prompt", 16, 0,                                                                 \
	  "calls begin as soon as what they are made for is read, and none has begun later")       \
	X(KEEPS_TURN, "keeps-turn", 0, 0,                                                          \
	  "a request that gets an answer goes on itself: nobody else is given its connection")     \
	X(SERIAL, "serial", 16, 0, "requests make one call after the other, never two at a time")  \
	X(DIRECT, "direct", 16, 16,                                                                \
	  "a loop calls for what it has read before it reads for another request")                 \
	X(LOOPS_APART, "loops-apart", 0, 0,                                                        \
	  "the thread or loop that has read something goes on with it, and no other one does")     \
	X(THREADS_STAY, "threads-stay", 4, 0,                                                      \
	  "the thread that has called reads the answer, where sockets do not block")               \
	X(THREADS_KEEP, "threads-keep", 0, 0,                                                      \
	  "the thread that has read a request responds to it, where sockets block")                \
	X(SERVES_OWN, "serves-own", 0, 0,                                                          \
	  "a worker calls only for its own request, not for others that wait in a list")           \
	X(THREADS_END, "threads-end", 2, 0,                                                        \
	  "threads that are made for a request end before it does")                                \
	X(CHILDREN_END, "children-end", 2, 16,                                                     \
	  "processes that are made for a request end before it does")                              \
	X(QUEUES_PROMPT, "queues-prompt", 0, 0,                                                    \
	  "a loop puts work into a queue in the turn in which it has read the request")            \
	X(QUEUES_OWN, "queues-own", 0, 0,                                                          \
	  "who is done with an item of a queue does not put in the next one, of somebody else")    \
	X(ANSWERS_APART, "answers-apart", 0, 0,                                                    \
	  "no connection carries answers that several requests wait for")                          \
	X(TASKS_PROMPT, "tasks-prompt", 16, 64,                                                    \
	  "calls of tasks inside threads begin as soon as something is read")                      \
	X(COPIES_IDS, "copies-ids", 8, 0,                                                          \
	  "the x-request-id of a call is the one that its request has brought, never another one")

/* The same that are of one loop, peer, port or program in it, and counted there. */
#define CTXPROP_OTHER_HABITS(X)                                                                    \
	X(ORDERLY, "orderly", 24, 0,                                                               \
	  "what Node has deferred (setImmediate) makes one call, for the request that it was "     \
	  "deferred for")                                                                          \
	X(ROOM, "room", 0, 0,                                                                      \
	  "nobody waits for a free slot: fewer calls are under way than there have been before")   \
	X(SINGLE_USE, "single-use", 0, 0, "connections to that port carry no more than one call")  \
	X(OBJECTS_CLEAR, "objects-clear", 2, 0,                                                    \
	  "objects of idle connections lead to no request, so what they lead to in a call counts")

#define CTXPROP_HABIT_ENUM(id, name, least, ratio, text) HABIT_##id,
/* Habits of a process are numbered from 0 on, all others from HABIT_COUNT on. */
enum habit_id {
	CTXPROP_HABITS(CTXPROP_HABIT_ENUM) HABIT_COUNT,
	HABIT_LAST = HABIT_COUNT - 1,
	CTXPROP_OTHER_HABITS(CTXPROP_HABIT_ENUM) HABITS
};
#undef CTXPROP_HABIT_ENUM

/* When a habit is believed: `least` and `ratio` of its row. */
struct habit_rule {
	__u32 least;
	__u32 ratio;
};

#define CTXPROP_HABIT_RULE(id, name, least, ratio, text) [HABIT_##id] = {least, ratio},
static const struct habit_rule habit_rules[HABITS] = {CTXPROP_HABITS(CTXPROP_HABIT_RULE)
							  CTXPROP_OTHER_HABITS(CTXPROP_HABIT_RULE)};
#undef CTXPROP_HABIT_RULE

/* All rules are numbered: evidence, then vetoes, then habits. */
#define RULE_BY(evidence) ((__u32)(evidence))
#define RULE_VETO(veto)   ((__u32)EVIDENCE_COUNT + (veto))
#define RULE_HABIT(habit) ((__u32)EVIDENCE_COUNT + VETO_COUNT + (habit))
#define RULES             ((__u32)EVIDENCE_COUNT + VETO_COUNT + HABITS)
_Static_assert(EVIDENCE_COUNT + VETO_COUNT + HABITS <= 64, "a mask of 64 bits has them all");

#ifdef CTXPROP_ABLATION
#ifdef __bpf__
/* Set before load. */
const volatile __u64 rules_off __weak = 0;
#else
extern __u64 rules_off;
#endif

/* Is the rule (RULE_BY() and the like) switched off? */
static inline int rule_is_off(__u32 rule)
{
	return !!(rules_off >> rule & 1);
}
#else
static inline int rule_is_off(__u32 rule)
{
	(void)rule;
	return 0;
}
#endif

static inline enum veto veto_unless_off(enum veto veto)
{
	return rule_is_off(RULE_VETO(veto)) ? VETO_NONE : veto;
}

#endif
