// SPDX-License-Identifier: Apache-2.0
#include "cmd/habits.h"

#define PORT_BITS 63

/* A habit that is not believed: broken, as far as it could have been believed otherwise? */
static enum habit_state habit_lacks(struct habit h, enum habit_id id)
{
	const struct habit_rule *rule = &habit_rules[id];
	int often = h.kept >= rule->least;

	return h.broken && (often || !rule->ratio) ? HABIT_BROKEN : HABIT_NOT_YET;
}

int habit_of(enum habit_id id, const struct process *p, __u16 port, __u32 *ret_kept)
{
	*ret_kept = id < HABIT_COUNT ? p->habit[id].kept : 0;
	if (id == HABIT_SINGLE_USE)
		return process_is_single_use(p, 1ULL << (port & PORT_BITS)) ? HABIT_SHOWN
									    : HABIT_BROKEN;
	if (id >= HABIT_COUNT)
		return -1;
	return process_has_habit(p, id) ? HABIT_SHOWN : habit_lacks(p->habit[id], id);
}
