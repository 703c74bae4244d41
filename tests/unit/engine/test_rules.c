// SPDX-License-Identifier: Apache-2.0
/* Rules of the engine by name: each is told from all others, and "none" is no rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/reason_names.h"
#include "base/rule_names.h"
#include "engine/habits.h"

static void names_lead_back(void **state)
{
	__u32 count = 0;

	(void)state;
	for (__u32 rule = 0; rule < RULES; rule++) {
		const struct rule_row *row = rule_row(rule);

		if (!row)
			continue;
		count++;
		assert_int_equal(rule_by_name(row->name), rule);
		assert_true(row->text[0] && row->text[strlen(row->text) - 1] != '.');
	}
	assert_int_equal(count, RULES - 2);
}

/* Stats, and whatever else counts by evidence and veto, call them the same. */
static void names_are_those_of_reasons(void **state)
{
	(void)state;
	for (__u32 e = EVIDENCE_NONE + 1; e < EVIDENCE_COUNT; e++)
		assert_string_equal(rule_row(RULE_BY(e))->name,
				    reason_row(REASON_EVIDENCE_NONE + e)->name);
	for (__u32 v = VETO_NONE + 1; v < VETO_COUNT; v++)
		assert_string_equal(rule_row(RULE_VETO(v))->name,
				    reason_row(REASON_VETO_NONE + v)->name);
}

static void none_is_no_rule(void **state)
{
	(void)state;
	assert_null(rule_row(RULE_BY(EVIDENCE_NONE)));
	assert_null(rule_row(RULE_VETO(VETO_NONE)));
	assert_null(rule_row(RULES));
	assert_int_equal(rule_by_name("none"), -1);
	assert_int_equal(rule_by_name("by-none"), -1);
	assert_int_equal(rule_by_name(""), -1);
}

/* What a release is built with: no rule can be left out. */
static void all_rules_stand(void **state)
{
	(void)state;
	for (__u32 rule = 0; rule < RULES; rule++)
		assert_false(rule_is_off(rule));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_lead_back),
	    cmocka_unit_test(names_are_those_of_reasons),
	    cmocka_unit_test(none_is_no_rule),
	    cmocka_unit_test(all_rules_stand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
