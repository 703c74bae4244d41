// SPDX-License-Identifier: Apache-2.0
/*
 * Numbers of one stream in the other (bpf/edits.h): each property is tried with many random lives
 * of a connection; a failure names its seed.
 */
#include "life.h"

static void check_to_wire(struct life *l)
{
	/* Below what is acknowledged the exact place is forgotten; see check_forgotten(). */
	for (uint32_t a = to_app(l, l->acked); a <= l->model->app_len; a++)
		expect(l, "to_wire()", to_wire(l, a), l->model->wire_of[a]);
}

static void to_wire_counts_the_edits_before_a_byte(void **state)
{
	(void)state;
	in_every_life(check_to_wire);
}

static void check_to_app(struct life *l)
{
	for (uint32_t w = l->acked; w <= l->model->wire_len; w++)
		expect(l, "to_app()", to_app(l, w), model_to_app(l->model, w));
}

static void an_edit_is_acknowledged_only_with_its_byte(void **state)
{
	(void)state;
	in_every_life(check_to_app);
}

static void check_to_app_up(struct life *l)
{
	for (uint32_t w = l->acked; w <= l->model->wire_len; w++)
		expect(l, "to_app_up()", to_app_up(l, w), model_to_app_up(l->model, w));
}

static void a_left_edge_inside_an_edit_goes_up(void **state)
{
	(void)state;
	in_every_life(check_to_app_up);
}

/* A translated SACK block says no byte that the peer did not get. */
static void check_sack(struct life *l)
{
	uint32_t left = random_in(&l->random, l->acked, l->model->wire_len);
	uint32_t right = random_in(&l->random, left, l->model->wire_len);
	uint32_t app_left = to_app_up(l, left), app_right = to_app(l, right);

	for (uint32_t a = app_left; a < app_right; a++) {
		int whole = left <= l->model->wire_of[a] && l->model->wire_of[a + 1] <= right;

		expect(l, "a byte that a SACK block stands for was received whole", whole, 1);
	}
}

static void a_block_never_says_more_than_was_received(void **state)
{
	(void)state;
	in_every_life(check_sack);
}

static void check_unacked(struct life *l)
{
	uint32_t w = random_in(&l->random, l->acked, l->model->wire_len);

	expect(l, "unacked() at the acknowledgement",
	       edits_unacked(&l->edits, l->model->isn + l->acked),
	       model_inserted_from(l->model, l->acked));
	expect(l, "unacked() further on", edits_unacked(&l->edits, l->model->isn + w),
	       model_inserted_from(l->model, w));
}

static void unacked_is_what_the_edits_still_take_of_the_window(void **state)
{
	(void)state;
	in_every_life(check_unacked);
}

/* Bytes that the peer has acknowledged are renumbered somewhere below its acknowledgement. */
static void check_forgotten(struct life *l)
{
	uint32_t una = to_app(l, l->acked);

	for (uint32_t a = 0; a < una; a++) {
		__u32 wire = edits_to_wire(&l->edits, app_number(l, a));

		expect(l, "an old byte is old on the wire too",
		       seq_before(wire, l->model->isn + l->acked), 1);
	}
}

static void an_old_segment_never_overwrites_new_bytes(void **state)
{
	(void)state;
	in_every_life(check_forgotten);
}

static void check_old_ack(struct life *l)
{
	uint32_t una = to_app(l, l->acked);

	for (uint32_t w = 0; w < l->acked; w++) {
		__u32 app = edits_to_app(&l->edits, l->model->isn + w);

		expect(l, "an old acknowledgement acknowledges something new",
		       seq_before(app_number(l, una), app), 0);
	}
}

static void an_old_acknowledgement_stays_old(void **state)
{
	(void)state;
	in_every_life(check_old_ack);
}

/*
 * Wire offset behind the last edit of which nothing is left: others have had its slot. `more`: that
 * were recorded and taken back.
 */
static uint32_t forgotten(const struct life *l, uint32_t more)
{
	uint32_t lost = l->made + (more ? more - 1 : 0);

	if (lost < EDITS_MAX)
		return 0;
	lost -= EDITS_MAX;
	return l->model->wire_of[l->place[lost < l->made ? lost : l->made - 1] + 1];
}

/* What has retired last is still known: where an old number lies among it, it is exact. */
static void check_past(struct life *l)
{
	uint32_t una = to_app(l, l->acked);
	uint32_t wanted = random_in(&l->random, 0, EDITS_MAX), more = 0;
	struct edits e = l->edits;
	struct edit edit = {.at = app_number(l, l->model->app_len), .len = 70};

	for (; more < wanted && !edits_add(&e, &edit); more++)
		edit.at++;
	edits_take_back(&e, more);
	/* What the acknowledgement ends in may be the wide byte of an edit that is in flight. */
	for (uint32_t w = forgotten(l, more); w < l->model->wire_of[una]; w++) {
		struct edits_past past = edits_past(&e, l->model->isn + w);
		uint32_t app = model_to_app(l->model, w);

		expect(l, "past app", past.app - l->model->isn, app);
		expect(l, "past wire", past.wire - l->model->isn, l->model->wire_of[app]);
	}
}

static void a_number_among_the_last_retired_edits_is_exact(void **state)
{
	(void)state;
	in_every_life(check_past);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(to_wire_counts_the_edits_before_a_byte),
	    cmocka_unit_test(an_edit_is_acknowledged_only_with_its_byte),
	    cmocka_unit_test(a_left_edge_inside_an_edit_goes_up),
	    cmocka_unit_test(a_block_never_says_more_than_was_received),
	    cmocka_unit_test(unacked_is_what_the_edits_still_take_of_the_window),
	    cmocka_unit_test(an_old_segment_never_overwrites_new_bytes),
	    cmocka_unit_test(an_old_acknowledgement_stays_old),
	    cmocka_unit_test(a_number_among_the_last_retired_edits_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
