// SPDX-License-Identifier: Apache-2.0
/*
 * Edits come, retire and are taken back (bpf/edits.h): where it says so, in many random lives of a
 * connection; a failure names its seed.
 */
#include <string.h>

#include "life.h"

static void check_retired(struct life *l)
{
	uint32_t una = to_app(l, l->acked);

	for (uint32_t i = 0; i < edits_count(&l->edits); i++)
		expect(l, "an edit before the acknowledgement is still in flight",
		       seq_before(app_number(l, una), edit_end(edits_get(&l->edits, i))), 1);
	expect(l, "retired and pending edits together",
	       edits_base(&l->edits) +
		   edits_unacked(&l->edits, l->model->isn + l->model->wire_of[una]),
	       model_inserted_from(l->model, 0));
	expect(l, "all edits together", edits_total(&l->edits), model_inserted_from(l->model, 0));
}

static void retiring_keeps_the_sum(void **state)
{
	(void)state;
	in_every_life(check_retired);
}

/* Edits that were never sent leave no trace. */
static void check_take_back(struct life *l)
{
	struct edits before = l->edits;
	struct edit e = {.at = app_number(l, l->model->app_len), .len = 70};
	uint32_t wanted = random_in(&l->random, 1, EDITS_MAX), added = 0;

	while (added < wanted && !edits_add(&l->edits, &e)) {
		added++;
		e.at++;
	}
	edits_take_back(&l->edits, added);
	expect(l, "count after taking back", edits_count(&l->edits), edits_count(&before));
	expect(l, "base after taking back", edits_base(&l->edits), edits_base(&before));
	for (uint32_t i = 0; i < edits_count(&before); i++)
		expect(l, "an older edit changed",
		       memcmp(edits_get(&l->edits, i), edits_get(&before, i), sizeof(struct edit)),
		       0);
}

static void what_is_taken_back_was_never_there(void **state)
{
	(void)state;
	in_every_life(check_take_back);
}

static void a_full_ring_refuses_and_stays_as_it_is(void **state)
{
	(void)state;
	for (uint32_t rotated = 0; rotated < EDITS_MAX; rotated++) {
		struct edits e = {}, before;
		struct edit edit = {.at = 0xffffffe0, .len = 70};

		for (uint32_t i = 0; i < rotated; i++, edit.at++) {
			assert_int_equal(edits_add(&e, &edit), 0);
			assert_int_equal(edits_retire(&e, edit.at + 1), 1);
		}
		edit.at = 0xfffffff0;
		for (uint32_t i = 0; i < EDITS_MAX; i++, edit.at += 3)
			assert_int_equal(edits_add(&e, &edit), 0);
		before = e;
		assert_int_equal(edits_add(&e, &edit), -1);
		assert_memory_equal(&e, &before, sizeof(e));
		assert_int_equal(edits_retire(&e, 0xfffffff1), 1);
		assert_int_equal(edits_add(&e, &edit), 0);
	}
}

static void an_edit_that_is_not_the_youngest_is_refused(void **state)
{
	struct edits e = {}, before;
	struct edit edit = {.at = 5, .len = 70};

	(void)state;
	assert_int_equal(edits_add(&e, &edit), 0);
	before = e;
	assert_int_equal(edits_add(&e, &edit), -1);
	edit.at = 0xfffffffb; /* before 5, across 2^32 */
	assert_int_equal(edits_add(&e, &edit), -1);
	assert_memory_equal(&e, &before, sizeof(e));
	edit.at = 6;
	assert_int_equal(edits_add(&e, &edit), 0);
}

static void taking_back_more_than_there_is_empties_the_ring(void **state)
{
	struct edits e = {};
	struct edit edit = {.at = 1, .len = 70};

	(void)state;
	assert_int_equal(edits_add(&e, &edit), 0);
	edits_take_back(&e, 2);
	assert_int_equal(edits_count(&e), 0);
	assert_false(edits_any(&e));
}

/* Headers that are not sent after all, among changes that are. */
static void check_void(struct life *l)
{
	struct edits before = l->edits, e = l->edits;
	uint32_t fresh = random_in(&l->random, 0, EDITS_MAX - edits_count(&e)), changes = 0;
	struct edit edit = {.at = app_number(l, l->model->app_len)};

	for (uint32_t i = 0; i < fresh; i++, edit.at += 3) {
		edit.kind = random_once_in(&l->random, 2) ? EDIT_CUT : EDIT_INSERT;
		edit.len = edit.kind == EDIT_INSERT ? 70 : 0;
		edit.extent = 3;
		changes += edit.kind == EDIT_CUT;
		expect(l, "refusal", edits_add(&e, &edit), 0);
	}
	expect(l, "changing", edits_changing(&e), changes || edits_changing(&before));
	edits_void(&e, fresh);
	expect(l, "number of a later byte", edits_to_wire(&e, edit.at + 1),
	       edits_to_wire(&before, edit.at + 1));
	for (uint32_t i = 0; i < edits_count(&before); i++)
		expect(l, "an older edit changed",
		       memcmp(edits_get(&e, i), edits_get(&before, i), sizeof(edit)), 0);
	for (uint32_t i = edits_count(&before); i < edits_count(&e); i++)
		changes -= edits_get(&e, i)->kind == EDIT_CUT;
	expect(l, "changes that are missing", changes, 0);
	edits_retire(&e, edit.at + 3);
	expect(l, "changing in the end", edits_changing(&e), 0);
}

static void headers_that_are_not_sent_leave_changes_alone(void **state)
{
	(void)state;
	in_every_life(check_void);
}

static void a_flow_without_edits_has_no_offset(void **state)
{
	struct edits e = {};
	struct edit edit = {.at = 1, .len = 70};

	(void)state;
	assert_false(edits_any(&e));
	assert_int_equal(edits_to_wire(&e, 0xffffffff), 0xffffffff);
	assert_int_equal(edits_to_app(&e, 17), 17);
	assert_int_equal(edits_to_app_up(&e, 17), 17);
	assert_int_equal(edits_add(&e, &edit), 0);
	assert_true(edits_any(&e));
	assert_int_equal(edits_total(&e), 70);
	assert_int_equal(edits_retire(&e, 2), 1);
	assert_true(edits_any(&e));
	assert_int_equal(edits_base(&e), 70);
	assert_int_equal(edits_total(&e), 70);
}

/* Which bytes an edit is about: the one it stands before, or those that it changes. */
static void an_edit_meets_its_bytes(void **state)
{
	struct edits e = {};
	struct edit header = {.at = 5, .len = 70};
	struct edit cut = {.at = 10, .kind = EDIT_CUT, .extent = 4};

	(void)state;
	assert_false(edits_meet(&e, 0, 100));
	assert_int_equal(edits_add(&e, &header), 0);
	assert_true(edits_meet(&e, 5, 6));
	assert_false(edits_meet(&e, 0, 5));
	assert_false(edits_meet(&e, 6, 100));
	assert_int_equal(edits_add(&e, &cut), 0);
	assert_true(edits_meet(&e, 13, 14));
	assert_true(edits_meet(&e, 7, 11));
	assert_false(edits_meet(&e, 6, 10));
	assert_false(edits_meet(&e, 14, 100));
	assert_int_equal(edits_retire(&e, 14), 2);
	assert_false(edits_meet(&e, 0, 100));
	assert_int_equal(edits_add(&e, &(struct edit){.at = 20, .len = 70}), 0);
	edits_void(&e, 1);
	assert_false(edits_meet(&e, 15, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(retiring_keeps_the_sum),
	    cmocka_unit_test(what_is_taken_back_was_never_there),
	    cmocka_unit_test(headers_that_are_not_sent_leave_changes_alone),
	    cmocka_unit_test(a_full_ring_refuses_and_stays_as_it_is),
	    cmocka_unit_test(an_edit_that_is_not_the_youngest_is_refused),
	    cmocka_unit_test(taking_back_more_than_there_is_empties_the_ring),
	    cmocka_unit_test(a_flow_without_edits_has_no_offset),
	    cmocka_unit_test(an_edit_meets_its_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
