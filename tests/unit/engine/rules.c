// SPDX-License-Identifier: Apache-2.0
/* The rules of the engine, one in each line: kind, name, least, ratio, text, with tabs between. */
#include <stdio.h>

#include "base/rule_names.h"
#include "engine/rules.h"

int main(void)
{
	static const char *const kinds[RULE_KINDS] = {"evidence", "veto", "habit"};

	for (__u32 rule = 0; rule < RULES; rule++) {
		const struct rule_row *row = rule_row(rule);

		if (row)
			printf("%s\t%s\t%u\t%u\t%s\n", kinds[row->kind], row->name, row->least,
			       row->ratio, row->text);
	}
	return 0;
}
