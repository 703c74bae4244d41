// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stddef.h>

#include "base/rule_names.h"
#include "cmd/habits.h"

#define PORT_BITS 63

static int faithful(const struct process *p)
{
	return process_has_habit(p, HABIT_FAITHFUL);
}

/* Habits of which the engine asks for the contrary. */
static int serial(const struct process *p)
{
	return call_limit_is_serial(&p->call_limit);
}

static int loops_apart(const struct process *p)
{
	return !process_loops_share(p);
}

static int threads_keep(const struct process *p)
{
	return !process_threads_leave(p);
}

static int serves_own(const struct process *p)
{
	return !process_serves_lists(p);
}

static int queues_prompt(const struct process *p)
{
	return !process_queues_late(p);
}

static int queues_own(const struct process *p)
{
	return !process_queues_next(p);
}

static int answers_apart(const struct process *p)
{
	return !process_shares_answers(p);
}

static int (*const predicates[HABITS])(const struct process *p) = {
    [HABIT_FAITHFUL] = faithful,
    [HABIT_PROMPT] = process_is_prompt,
    [HABIT_KEEPS_TURN] = process_keeps_turn,
    [HABIT_SERIAL] = serial,
    [HABIT_DIRECT] = process_is_direct,
    [HABIT_LOOPS_APART] = loops_apart,
    [HABIT_THREADS_STAY] = process_threads_stay,
    [HABIT_THREADS_KEEP] = threads_keep,
    [HABIT_SERVES_OWN] = serves_own,
    [HABIT_THREADS_END] = process_threads_end,
    [HABIT_CHILDREN_END] = process_children_end,
    [HABIT_QUEUES_PROMPT] = queues_prompt,
    [HABIT_QUEUES_OWN] = queues_own,
    [HABIT_ANSWERS_APART] = answers_apart,
    [HABIT_TASKS_PROMPT] = tasks_are_prompt,
    [HABIT_COPIES_IDS] = process_copies_ids,
};

static __u32 seen(enum habit_id habit, const struct process *p)
{
	switch (habit) {
	case HABIT_FAITHFUL:
		return p->habit[HABIT_FAITHFUL].kept;
	case HABIT_PROMPT:
	case HABIT_TASKS_PROMPT:
		return p->prompt;
	case HABIT_SERIAL:
		return p->call_limit.serial;
	case HABIT_DIRECT:
		return p->direct;
	case HABIT_THREADS_STAY:
		return p->threads_stay;
	case HABIT_THREADS_END:
		return p->threads_ended;
	case HABIT_CHILDREN_END:
		return p->children_ended;
	case HABIT_COPIES_IDS:
		return p->copies;
	default:
		return 0;
	}
}

/* Was the contrary seen, too? */
static bool is_spoilt(enum habit_id habit, const struct process *p)
{
	switch (habit) {
	case HABIT_PROMPT:
		return p->late;
	case HABIT_SERIAL:
		return p->call_limit.parallel;
	case HABIT_THREADS_END:
		return p->threads_stayed;
	case HABIT_COPIES_IDS:
		return p->makes_ids;
	default:
		return seen(habit, p) >= rule_row(RULE_HABIT(habit))->least;
	}
}

int habit_of(enum habit_id habit, const struct process *p, __u16 port, __u32 *ret_seen)
{
	*ret_seen = seen(habit, p);
	if (habit == HABIT_SINGLE_USE)
		return process_pools(p, 1ULL << (port & PORT_BITS)) ? HABIT_BROKEN : HABIT_SHOWN;
	if (!predicates[habit])
		return -1;
	if (predicates[habit](p))
		return HABIT_SHOWN;
	return is_spoilt(habit, p) ? HABIT_BROKEN : HABIT_NOT_YET;
}
