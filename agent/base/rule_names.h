/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of the engine's rules (bpf/engine/rules.h). */
#ifndef CTXPROP_RULE_NAMES_H
#define CTXPROP_RULE_NAMES_H

#include <linux/types.h>

enum rule_kind { RULE_KIND_EVIDENCE, RULE_KIND_VETO, RULE_KIND_HABIT, RULE_KINDS };

/* `name` is what every output and option says: "by-loop", "veto-spent", "faithful". */
struct rule_row {
	const char *name;
	const char *text; /* one sentence without its full stop */
	enum rule_kind kind;
	__u32 least; /* a habit: how often it must be kept to be believed; 0: it is believed from
			the beginning */
	__u32 ratio; /* a habit: how many more times for each that it was broken; 0: once broken it
			is not believed any more */
};

/* The row of a rule (RULE_BY() and the like); NULL where there is none: "none" is no rule. */
const struct rule_row *rule_row(__u32 rule);

/* The rule of this name, or -1. */
int rule_by_name(const char *name);

#endif
