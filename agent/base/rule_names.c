// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <string.h>

#include "base/rule_names.h"
#include "engine/habits.h"
#include "runtimes/runtime.h"

#define EVIDENCE_ROW(id, name, text)                                                               \
	[RULE_BY(EVIDENCE_##id)] = {"by-" name, text, RULE_KIND_EVIDENCE, 0, 0},
#define VETO_ROW(id, name, text)                                                                   \
	[RULE_VETO(VETO_##id)] = {"veto-" name, text, RULE_KIND_VETO, 0, 0},
#define HABIT_ROW(id, name, least, ratio, text)                                                    \
	[RULE_HABIT(HABIT_##id)] = {name, text, RULE_KIND_HABIT, least, ratio},

/* clang-format off */
static const struct rule_row rows[] = {
	CTXPROP_EVIDENCE(EVIDENCE_ROW)
	CTXPROP_VETO(VETO_ROW)
	CTXPROP_HABITS(HABIT_ROW)
	CTXPROP_OTHER_HABITS(HABIT_ROW)
};
/* clang-format on */
_Static_assert(sizeof(rows) / sizeof(rows[0]) == RULES, "every rule has a row");

const struct rule_row *rule_row(__u32 rule)
{
	if (rule >= RULES || rule == RULE_BY(EVIDENCE_NONE) || rule == RULE_VETO(VETO_NONE))
		return NULL;
	return &rows[rule];
}

int rule_by_name(const char *name)
{
	for (__u32 rule = 0; rule < RULES; rule++)
		if (rule_row(rule) && !strcmp(rows[rule].name, name))
			return (int)rule;
	return -1;
}
