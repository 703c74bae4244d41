// SPDX-License-Identifier: Apache-2.0
/* From when to when is published what costs something: with readers and a clock of the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "base/clock.h"
#include "load/node.h"
#include "runtime/publish.h"

static __u64 now = 1000 * NS_PER_SECOND;
static int opened, found, moments_opened; /* what the functions below return */
static struct trace_readers_seen seen;
static __u64 met;
static int looks, locked, moments_held;
static __u32 told, left_out;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	*ret = (struct timespec){.tv_sec = (time_t)(now / NS_PER_SECOND)};
	return 0;
}

int trace_readers_open(struct trace_readers **ret_readers)
{
	*ret_readers = opened ? NULL : (struct trace_readers *)&opened;
	return opened;
}

void trace_readers_close(struct trace_readers *readers)
{
	(void)readers;
}

int trace_readers_look(struct trace_readers *readers, struct trace_readers_seen *ret_seen)
{
	(void)readers;
	looks++;
	*ret_seen = seen;
	return found;
}

int moments_open(struct moments **ret_moments)
{
	*ret_moments = moments_opened ? NULL : (struct moments *)&moments_opened;
	moments_held += !moments_opened;
	return moments_opened;
}

void moments_close(struct moments *moments)
{
	moments_held -= moments != NULL;
}

__u64 moments_met(const struct moments *moments)
{
	assert_non_null(moments);
	return met;
}

void moments_leave_out(struct moments *moments, const __u32 *ids)
{
	assert_non_null(moments);
	left_out = ids[0];
}

int node_set_publish(__u32 publish)
{
	if (locked)
		return -EWOULDBLOCK;
	told = publish;
	return 0;
}

static struct publish begin(enum publish_mode mode)
{
	struct publish publish;

	publish_open(mode, &publish);
	return publish;
}

/* So many seconds pass, in steps of one. Returns how often the state has changed. */
static int wait(struct publish *publish, int seconds)
{
	int changes = 0;

	for (int i = 0; i < seconds; i++) {
		now += NS_PER_SECOND;
		changes += publish_do(publish);
	}
	return changes;
}

static int reset(void **state)
{
	(void)state;
	opened = found = moments_opened = looks = locked = moments_held = 0;
	met = left_out = 0;
	seen = (struct trace_readers_seen){.reader.id = 7};
	told = NODE_PUBLISH_UNTOLD;
	return 0;
}

static void a_reader_switches_it_on_and_off(void **state)
{
	struct publish publish = begin(PUBLISH_AUTO);

	(void)state;
	assert_false(publish_shows(&publish));
	assert_int_equal(told, NODE_PUBLISH_UNREAD);
	found = 1;
	assert_int_equal(wait(&publish, 4), 1);
	assert_true(publish_shows(&publish));
	assert_int_equal(told, NODE_PUBLISH_READ);
	assert_int_equal(publish.reader.id, 7);
	found = 0;
	assert_int_equal(wait(&publish, 25), 0);
	assert_int_equal(wait(&publish, 10), 1);
	assert_false(publish_shows(&publish));
	assert_int_equal(told, NODE_PUBLISH_UNREAD);
}

/* So many seconds pass, with samples in each. Returns how often the state has changed. */
static int wait_sampled(struct publish *publish, int seconds)
{
	int changes = 0;

	for (int i = 0; i < seconds; i++) {
		met++;
		changes += wait(publish, 1);
	}
	return changes;
}

static void who_samples_needs_no_probes(void **state)
{
	struct publish publish = begin(PUBLISH_AUTO);

	(void)state;
	assert_int_equal(moments_held, 0);
	seen.reader.samples = 1;
	seen.own_samplers[0] = 9;
	found = 1;
	assert_int_equal(wait_sampled(&publish, 100), 1);
	assert_int_equal(told, NODE_PUBLISH_SAMPLED);
	assert_false(publish_shows(&publish));
	assert_int_equal(moments_held, 1);
	assert_int_equal(left_out, 9);
	found = 0;
	assert_int_equal(wait(&publish, 25), 0);
	assert_int_equal(wait(&publish, 10), 1);
	assert_int_equal(told, NODE_PUBLISH_UNREAD);
	assert_int_equal(moments_held, 0);
}

static void whose_samples_are_not_met_needs_probes(void **state)
{
	struct publish publish;

	(void)state;
	seen.reader.samples = 1;
	found = 1;
	publish = begin(PUBLISH_AUTO);
	assert_int_equal(publish.state, NODE_PUBLISH_SAMPLED);
	assert_int_equal(wait(&publish, 25), 0);
	assert_int_equal(wait(&publish, 10), 1);
	assert_int_equal(told, NODE_PUBLISH_READ);
	assert_true(publish_shows(&publish));
	assert_int_equal(wait_sampled(&publish, 4), 1);
	assert_int_equal(told, NODE_PUBLISH_SAMPLED);
	assert_false(publish_shows(&publish));
	assert_int_equal(moments_held, 1);
}

static void who_does_not_sample_needs_probes(void **state)
{
	struct publish publish;

	(void)state;
	found = 1;
	publish = begin(PUBLISH_AUTO);
	wait_sampled(&publish, 10);
	assert_int_equal(told, NODE_PUBLISH_READ);
	assert_true(publish_shows(&publish));
	publish_close(&publish);
	assert_int_equal(moments_held, 0);
}

static void where_samples_cannot_be_met_probes_are_needed(void **state)
{
	struct publish publish;

	(void)state;
	moments_opened = -EPERM;
	seen.reader.samples = 1;
	found = 1;
	publish = begin(PUBLISH_AUTO);
	assert_int_equal(told, NODE_PUBLISH_READ);
	assert_int_equal(publish.moments_err, -EPERM);
	assert_true(publish_shows(&publish));
}

static void one_that_comes_again_keeps_it_on(void **state)
{
	struct publish publish;

	(void)state;
	found = 1;
	publish = begin(PUBLISH_AUTO);
	assert_true(publish_shows(&publish));
	for (int i = 0; i < 5; i++) {
		found = 0;
		assert_int_equal(wait(&publish, 20), 0);
		found = 1;
		assert_int_equal(wait(&publish, 4), 0);
	}
	assert_true(publish_shows(&publish));
}

static void looks_are_seldom(void **state)
{
	struct publish publish = begin(PUBLISH_AUTO);

	(void)state;
	wait(&publish, 60);
	assert_in_range(looks, 15, 21);
	assert_in_range(publish_due_ms(&publish), 1, 3001);
}

static void who_cannot_see_does_not_publish(void **state)
{
	struct publish publish;

	(void)state;
	opened = -EPERM;
	publish = begin(PUBLISH_AUTO);
	assert_int_equal(publish.state, NODE_PUBLISH_BLIND);
	assert_int_equal(publish.err, -EPERM);
	assert_false(publish_shows(&publish));
	assert_int_equal(wait(&publish, 60), 0);
	assert_int_equal(publish_due_ms(&publish), -1);

	opened = 0;
	publish = begin(PUBLISH_AUTO);
	found = -ENOMEM;
	assert_int_equal(wait(&publish, 60), 1);
	assert_int_equal(told, NODE_PUBLISH_BLIND);
}

static void who_is_told_does_not_look(void **state)
{
	struct publish publish = begin(PUBLISH_ALWAYS);

	(void)state;
	assert_true(publish_shows(&publish));
	assert_int_equal(moments_held, 1);
	publish_close(&publish);
	found = 1;
	publish = begin(PUBLISH_NEVER);
	assert_int_equal(wait(&publish, 60), 0);
	assert_false(publish_shows(&publish));
	assert_int_equal(told, NODE_PUBLISH_NEVER);
	assert_int_equal(looks, 0);
	assert_int_equal(moments_held, 0);
}

static void the_node_is_told_when_it_can_be(void **state)
{
	struct publish publish;

	(void)state;
	locked = 1;
	publish = begin(PUBLISH_NEVER);
	assert_int_equal(wait(&publish, 5), 0);
	assert_int_equal(told, NODE_PUBLISH_UNTOLD);
	locked = 0;
	assert_int_equal(wait(&publish, 5), 0);
	assert_int_equal(told, NODE_PUBLISH_NEVER);
	assert_int_equal(publish_due_ms(&publish), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_reader_switches_it_on_and_off, reset),
	    cmocka_unit_test_setup(who_samples_needs_no_probes, reset),
	    cmocka_unit_test_setup(whose_samples_are_not_met_needs_probes, reset),
	    cmocka_unit_test_setup(who_does_not_sample_needs_probes, reset),
	    cmocka_unit_test_setup(where_samples_cannot_be_met_probes_are_needed, reset),
	    cmocka_unit_test_setup(one_that_comes_again_keeps_it_on, reset),
	    cmocka_unit_test_setup(looks_are_seldom, reset),
	    cmocka_unit_test_setup(who_cannot_see_does_not_publish, reset),
	    cmocka_unit_test_setup(who_is_told_does_not_look, reset),
	    cmocka_unit_test_setup(the_node_is_told_when_it_can_be, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
