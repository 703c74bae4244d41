/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Habits (rules.h): has a process shown that it does things in a way that the engine relies on?
 * Predicates of what was counted (worker.h), for the engine and for those who explain it. What is
 * learnt, and when, stands in learn.h and beside the events.
 *
 * `p` may be NULL only where that is said: nothing is known of the process then.
 */
#ifndef CTXPROP_ENGINE_HABITS_H
#define CTXPROP_ENGINE_HABITS_H

#include "engine/rules.h"
#include "engine/worker.h"

/* Responses that must have borne out that deferred calls are of their own requests. */
#define LATER_ORDERLY 24

/* So many calls must have come as soon as something was read, and so many more for each stray. */
#define TASKS_PROMPT 16
#define TASKS_STRAYS 64

/* One more; a count that is full stays so. */
static __always_inline void habit_count(__u32 *count)
{
	__u64 next = (__u64)*count + 1;

	*count = next - (next >> 32);
}

static __always_inline void process_keeps(struct process *p, enum habit_id id)
{
	habit_count(&p->habit[id].kept);
}

static __always_inline void process_breaks(struct process *p, enum habit_id id)
{
	habit_count(&p->habit[id].broken);
}

/* Is a habit believed of which this is known? */
static __always_inline int habit_is_believed(struct habit h, enum habit_id id)
{
	const struct habit_rule *rule = &habit_rules[id];

	if (rule_is_off(RULE_HABIT(id)))
		return 1;
	if (h.broken && !rule->ratio)
		return 0;
	return h.kept >= rule->least + (__u64)h.broken * rule->ratio;
}

/* Is it believed of a process? NULL: of one of which nothing is known. */
static __always_inline int process_has_habit(const struct process *p, enum habit_id id)
{
	return habit_is_believed(p ? p->habit[id] : (struct habit){}, id);
}

/* May be NULL. */
static __always_inline int process_is_prompt(const struct process *p)
{
	return rule_is_off(RULE_HABIT(HABIT_PROMPT)) ||
	       (p && p->prompt >= PROCESS_PROMPT && !p->late);
}

static __always_inline int process_keeps_turn(const struct process *p)
{
	return rule_is_off(RULE_HABIT(HABIT_KEEPS_TURN)) || !p->hands_on;
}

/* Do its requests make one call after the other? */
static __always_inline int call_limit_is_serial(const struct call_limit *k)
{
	return rule_is_off(RULE_HABIT(HABIT_SERIAL)) ||
	       (!k->parallel && k->serial >= CALL_LIMIT_SERIAL);
}

/* Does a loop call before it reads on? May be NULL. */
static __always_inline int process_is_direct(const struct process *p)
{
	return rule_is_off(RULE_HABIT(HABIT_DIRECT)) ||
	       (p && p->direct / PROCESS_DIRECT > p->gathers);
}

static __always_inline int process_loops_share(const struct process *p)
{
	return !rule_is_off(RULE_HABIT(HABIT_LOOPS_APART)) && p->loops_share;
}

static __always_inline int process_threads_stay(const struct process *p)
{
	return rule_is_off(RULE_HABIT(HABIT_THREADS_STAY)) || p->threads_stay >= PROCESS_THREADS;
}

static __always_inline int process_threads_leave(const struct process *p)
{
	return !rule_is_off(RULE_HABIT(HABIT_THREADS_KEEP)) && p->threads_leave;
}

/* Are connections to the peer's port (`pool`: its bit) used more than once? */
static __always_inline int process_pools(const struct process *p, __u64 pool)
{
	return !rule_is_off(RULE_HABIT(HABIT_SINGLE_USE)) && (p->pools & pool);
}

/* Do workers do all that waits in some list, for others, too? May be NULL. */
static __always_inline int process_serves_lists(const struct process *p)
{
	return !rule_is_off(RULE_HABIT(HABIT_SERVES_OWN)) && p && p->serves >= PROCESS_SERVES;
}

static __always_inline int process_threads_end(const struct process *p)
{
	return rule_is_off(RULE_HABIT(HABIT_THREADS_END)) ||
	       (p->threads_ended >= PROCESS_ENDED && !p->threads_stayed);
}

static __always_inline int process_children_end(const struct process *p)
{
	return rule_is_off(RULE_HABIT(HABIT_CHILDREN_END)) ||
	       (p->children_ended >= PROCESS_ENDED &&
		(__u64)p->children_stayed * PROCESS_STAYED_RATIO <= p->children_ended);
}

static __always_inline int process_queues_late(const struct process *p)
{
	return !rule_is_off(RULE_HABIT(HABIT_QUEUES_PROMPT)) && p->queues_late;
}

static __always_inline int process_queues_next(const struct process *p)
{
	return !rule_is_off(RULE_HABIT(HABIT_QUEUES_OWN)) && p->queues_next;
}

/* Has it read from a connection that requests share? */
static __always_inline int process_shares_answers(const struct process *p)
{
	return !rule_is_off(RULE_HABIT(HABIT_ANSWERS_APART)) && p->shares;
}

/* Did its calls come with what they were made for, but for a few? */
static __always_inline int tasks_are_prompt(const struct process *p)
{
	return rule_is_off(RULE_HABIT(HABIT_TASKS_PROMPT)) ||
	       p->prompt >= TASKS_PROMPT + (__u32)p->strays * TASKS_STRAYS;
}

/* May be NULL. */
static __always_inline int process_copies_ids(const struct process *p)
{
	return rule_is_off(RULE_HABIT(HABIT_COPIES_IDS)) ||
	       (p && p->copies >= PROCESS_COPIES && !p->makes_ids);
}

#endif
