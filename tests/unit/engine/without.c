// SPDX-License-Identifier: Apache-2.0
/*
 * The simulation without single rules of the engine: CTXPROP_WITHOUT has their names, with blanks
 * in between. Cases that fail then need one of them (rules.py).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rule_names.h"
#include "store.h"

__u64 rules_off;

__attribute__((constructor)) static void leave_out(void)
{
	char names[256], *rest = names, *name;
	const char *wanted = getenv("CTXPROP_WITHOUT");

	snprintf(names, sizeof(names), "%s", wanted ? wanted : "");
	while ((name = strtok_r(rest, " ", &rest))) {
		int rule = rule_by_name(name);

		if (rule < 0) {
			fprintf(stderr, "CTXPROP_WITHOUT: %s is no rule of the engine\n", name);
			exit(2);
		}
		rules_off |= 1ULL << rule;
	}
}
