// SPDX-License-Identifier: Apache-2.0
/*
 * The edit model (bpf/edits.h) against two streams that are kept whole. Each property is tried
 * with many random lives of a connection; a failure names its seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "edits.h"
#include "edits_model.h"
#include "random.h"

#define SEEDS 2000
#define STEPS 60

/* One life of a connection: the code under test beside the model. */
struct life {
	struct random random;
	uint64_t seed;
	struct edits edits;
	struct model *model;
	uint32_t made;         /* edits that were recorded, */
	uint32_t place[STEPS]; /* and the app offset of each */
	uint32_t acked; /* wire offset: highest acknowledgement; edits before it have retired */
	uint8_t receiver[MODEL_WIRE_MAX]; /* what the peer has, by wire offset */
};

#define expect(life, what, got, want)                                                              \
	do {                                                                                       \
		uint32_t got_ = (got), want_ = (want);                                             \
		if (got_ != want_)                                                                 \
			fail_msg("seed %llu, %s:%d: %s is %u, not %u",                             \
				 (unsigned long long)(life)->seed, __func__, __LINE__, what, got_, \
				 want_);                                                           \
	} while (0)

/* Half of the lives pass 2^32 with their numbers, some 2^31. */
static uint32_t random_isn(struct random *r)
{
	uint32_t near = random_in(r, 0, MODEL_APP_MAX);

	switch (random_in(r, 0, 3)) {
	case 0:
		return 0u - near;
	case 1:
		return 0u - 2 * near;
	case 2:
		return 0x80000000u - near;
	default:
		return random_next(r);
	}
}

static void life_start(struct life *l, struct model *model, uint64_t seed)
{
	memset(l, 0, sizeof(*l));
	l->random.state = l->seed = seed;
	l->model = model;
	model_start(model, random_isn(&l->random));
}

static uint32_t app_number(const struct life *l, uint32_t offset)
{
	return l->model->isn + offset;
}

/* Wire offset of what the code under test says. */
static uint32_t to_wire(const struct life *l, uint32_t app)
{
	return edits_to_wire(&l->edits, app_number(l, app)) - l->model->isn;
}

static uint32_t to_app(const struct life *l, uint32_t wire)
{
	return edits_to_app(&l->edits, l->model->isn + wire) - l->model->isn;
}

static uint32_t to_app_up(const struct life *l, uint32_t wire)
{
	return edits_to_app_up(&l->edits, l->model->isn + wire) - l->model->isn;
}

/* The app writes; where there is room, an edit may be made before the first byte, or change some.
 */
static void write_some(struct life *l)
{
	uint32_t n = random_in(&l->random, 1, 40);
	struct edit e = {.at = app_number(l, l->model->app_len)};

	e.trace_flags = random_next(&l->random);
	if (random_once_in(&l->random, 4)) {
		e.kind = EDIT_CUT;
		e.extent = n;
	} else {
		e.len = 2 * random_in(&l->random, 1, 50);
	}
	if (random_once_in(&l->random, 3) || edits_add(&l->edits, &e))
		e.len = 0;
	else
		l->place[l->made++] = l->model->app_len;
	for (uint32_t i = 0; i < n; i++)
		model_write(l->model, random_next(&l->random), i ? 0 : e.len, e.trace_flags);
}

/* Put app bytes [from, to) where a packet with all their edits would bring them. */
static void transmit(struct life *l, uint32_t from, uint32_t to)
{
	uint32_t at = to_wire(l, from);

	for (uint32_t a = from; a < to; a++) {
		for (uint32_t i = 0; i < edits_count(&l->edits); i++) {
			const struct edit *e = edits_get(&l->edits, i);

			if (e->at != app_number(l, a))
				continue;
			memset(l->receiver + at, e->trace_flags, e->len);
			at += e->len;
		}
		l->receiver[at++] = l->model->app[a];
	}
}

/* A segment of which something is not acknowledged yet, new or again, cut anywhere. */
static void send_some(struct life *l)
{
	uint32_t una = to_app(l, l->acked), from, to, new_from;

	if (una == l->model->app_len)
		return;
	from = random_in(&l->random, una - una % 50, l->model->app_len - 1);
	to = random_in(&l->random, (from < una ? una : from) + 1, l->model->app_len);
	transmit(l, from, to);
	new_from = l->model->wire_of[from];
	if (new_from < l->acked)
		new_from = l->acked;
	expect(l, "difference between a segment's new bytes and the wire stream",
	       memcmp(l->receiver + new_from, l->model->wire + new_from,
		      l->model->wire_of[to] - new_from),
	       0);
}

/* The peer acknowledges up to any wire byte; what it has acknowledged retires. */
static void acknowledge(struct life *l)
{
	uint32_t before = edits_count(&l->edits), retired;

	if (l->acked == l->model->wire_len)
		return;
	l->acked = random_in(&l->random, l->acked, l->model->wire_len);
	retired = edits_retire(&l->edits, app_number(l, to_app(l, l->acked)));
	expect(l, "edits in flight after retiring", edits_count(&l->edits), before - retired);
}

static void step(struct life *l)
{
	switch (random_in(&l->random, 0, 4)) {
	case 0:
	case 1:
		if (l->model->app_len < MODEL_APP_MAX - 40)
			write_some(l);
		break;
	case 2:
	case 3:
		send_some(l);
		break;
	default:
		acknowledge(l);
	}
}

/* Run `check` after every step of every life. */
static void in_every_life(void (*check)(struct life *l))
{
	struct model *model = calloc(1, sizeof(*model));
	struct life *l = malloc(sizeof(*l));

	assert_non_null(model);
	assert_non_null(l);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		life_start(l, model, seed);
		for (int i = 0; i < STEPS; i++) {
			step(l);
			check(l);
		}
	}
	free(l);
	free(model);
}

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
	    cmocka_unit_test(to_wire_counts_the_edits_before_a_byte),
	    cmocka_unit_test(an_edit_is_acknowledged_only_with_its_byte),
	    cmocka_unit_test(a_left_edge_inside_an_edit_goes_up),
	    cmocka_unit_test(a_block_never_says_more_than_was_received),
	    cmocka_unit_test(unacked_is_what_the_edits_still_take_of_the_window),
	    cmocka_unit_test(an_old_segment_never_overwrites_new_bytes),
	    cmocka_unit_test(an_old_acknowledgement_stays_old),
	    cmocka_unit_test(a_number_among_the_last_retired_edits_is_exact),
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
