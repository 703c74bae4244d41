/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Habits (rules.h): has a process shown that it does things in a way that the engine relies on?
 * For the engine and for those who explain it. What is learnt, and when, stands in learn.h and
 * beside the events.
 */
#ifndef CTXPROP_ENGINE_HABITS_H
#define CTXPROP_ENGINE_HABITS_H

#include "engine/rules.h"
#include "engine/worker.h"

static __always_inline void habit_keeps(struct habit *h)
{
	h->kept++;
}

/* A count that is full stays so: what was broken is not forgotten. */
static __always_inline void habit_breaks(struct habit *h)
{
	__u64 next = (__u64)h->broken + 1;

	h->broken = next - (next >> 32);
}

static __always_inline void process_keeps(struct process *p, enum habit_id id)
{
	habit_keeps(&p->habit[id]);
}

static __always_inline void process_breaks(struct process *p, enum habit_id id)
{
	habit_breaks(&p->habit[id]);
}

static __always_inline int process_has_broken(const struct process *p, enum habit_id id)
{
	return p->habit[id].broken != 0;
}

/*
 * Is a habit believed of which this is known? The exception is `serves-own`, which is broken less
 * and less while it is kept.
 */
static __always_inline int habit_is_believed(struct habit h, enum habit_id id)
{
	const struct habit_rule *rule = &habit_rules[id];

	if (rule_is_off(RULE_HABIT(id)))
		return 1;
	if (id == HABIT_SERVES_OWN)
		return h.broken < SERVES_OWN_WEIGHT;
	if (h.broken && !rule->ratio)
		return 0;
	return h.kept >= rule->least + (__u64)h.broken * rule->ratio;
}

/* Is it believed of a process? NULL: of one of which nothing is known. */
static __always_inline int process_has_habit(const struct process *p, enum habit_id id)
{
	return habit_is_believed(p ? p->habit[id] : (struct habit){}, id);
}

/* Habit `single-use`, which is one of connections to a port (`port`: its bit). */
static __always_inline int process_is_single_use(const struct process *p, __u64 port)
{
	return rule_is_off(RULE_HABIT(HABIT_SINGLE_USE)) || !(p->single_use_broken & port);
}

/*
 * Habits that were taken for those of something else are void. What connections are used for does
 * not depend on it.
 */
static __always_inline void process_void_habits(struct process *p)
{
	__builtin_memset(p->habit, 0, sizeof(p->habit));
}

#endif
