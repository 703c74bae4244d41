// SPDX-License-Identifier: Apache-2.0
/* Which losses are told of, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "otlp/losses.h"

static void growth_is_told_once_a_minute(void **state)
{
	struct loss *due[LOSSES_MAX];
	struct losses losses = {};

	(void)state;
	/* What there was before is not told of. */
	losses_note(&losses, "a", 5);
	assert_int_equal(losses_due(&losses, 1, due), 0);
	losses_note(&losses, "a", 7);
	assert_int_equal(losses_due(&losses, 1, due), 1);
	assert_string_equal(due[0]->reason, "a");
	assert_int_equal(due[0]->count - due[0]->told, 2);
	losses_tried(due[0], 1, true);
	assert_int_equal(losses_due(&losses, 2 + LOSSES_PERIOD_NS, due), 0);
	losses_note(&losses, "a", 8);
	assert_int_equal(losses_due(&losses, LOSSES_PERIOD_NS, due), 0);
	losses_note(&losses, "a", 9);
	assert_int_equal(losses_due(&losses, 1 + LOSSES_PERIOD_NS, due), 1);
	assert_int_equal(due[0]->count - due[0]->told, 2);
}

static void what_did_not_arrive_is_told_again(void **state)
{
	struct loss *due[LOSSES_MAX];
	struct losses losses = {};

	(void)state;
	losses_note(&losses, "a", 0);
	losses_note(&losses, "b", 0);
	losses_note(&losses, "b", 1);
	assert_int_equal(losses_due(&losses, 0, due), 1);
	losses_tried(due[0], 0, false);
	losses_note(&losses, "b", 4);
	assert_int_equal(losses_due(&losses, LOSSES_PERIOD_NS - 1, due), 0);
	assert_int_equal(losses_due(&losses, LOSSES_PERIOD_NS, due), 1);
	assert_int_equal(due[0]->count - due[0]->told, 4);
}

static void there_is_room_for_so_many(void **state)
{
	struct loss *due[LOSSES_MAX];
	struct losses losses = {};
	char name[8];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < LOSSES_MAX + 3; i++) {
			snprintf(name, sizeof(name), "%d", i);
			losses_note(&losses, name, (unsigned long)round);
		}
	assert_int_equal(losses_due(&losses, 0, due), LOSSES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(growth_is_told_once_a_minute),
	    cmocka_unit_test(what_did_not_arrive_is_told_again),
	    cmocka_unit_test(there_is_room_for_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
