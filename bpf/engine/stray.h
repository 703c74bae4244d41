/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Calls of programs with tasks (tasks.h) that no request seems to have waited for. */
#ifndef CTXPROP_ENGINE_STRAY_H
#define CTXPROP_ENGINE_STRAY_H

#include "engine/habits.h"
#include "runtimes/traits.h"

/* Is it one of these programs, or made by one (`p`: of its maker)? */
static __always_inline int process_has_tasks(const struct process *p)
{
	return p && runtime_hides_tasks(p->runtime);
}

/* A call or connect that nothing open has led to, or that nobody has waited for. */
static __always_inline void tasks_stray(struct process *p)
{
	if (process_has_tasks(p))
		process_breaks(p, HABIT_TASKS_PROMPT);
}

#endif
