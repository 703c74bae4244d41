// SPDX-License-Identifier: Apache-2.0
/* What goroutines make of the messages that they are handed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store.h"
#include "runtimes/go/handed.h"

enum { A = 1, B, C, D, OVER };

static int begin(void **state)
{
	(void)state;
	store_clear();
	for (__u64 id = A; id < OVER; id++)
		store_request(id);
	return 0;
}

static void get(struct goroutine *worker, __u64 request)
{
	const struct named named = {.request = request};

	goroutine_gets(worker, &named);
}

/* It does a job for a request, whose goroutine waits for it. */
static void do_one(struct goroutine *worker, __u64 request)
{
	get(worker, request);
	goroutine_tells(worker, request);
}

static struct goroutine proven(void)
{
	struct goroutine worker = {};

	for (int i = 0; i < GOROUTINE_ONE_BY_ONE; i++)
		do_one(&worker, i % 2 ? A : B);
	return worker;
}

static void assert_works_for(const struct goroutine *worker, __u64 request)
{
	assert_int_equal(goroutine_has(worker), request);
	assert_int_equal(worker->handed.doubtful, DOUBT_NONE);
}

static void one_job_after_the_other(void **state)
{
	struct goroutine worker = {};

	(void)state;
	for (int i = 0; i < 3; i++) {
		get(&worker, A);
		assert_works_for(&worker, A);
		goroutine_tells(&worker, A);
		get(&worker, B);
		assert_works_for(&worker, B);
		goroutine_tells(&worker, B);
	}
}

/* Whose jobs are over by then as well: it may take some more of them before it begins. */
static void messages_are_collected(void **state)
{
	struct goroutine open = {}, over = {};

	(void)state;
	get(&open, A);
	get(&open, B);
	assert_int_equal(goroutine_has(&open), 0);
	get(&over, OVER);
	get(&over, B);
	assert_int_equal(goroutine_has(&over), 0);
}

static void several_jobs_of_one_request(void **state)
{
	struct goroutine worker = {};

	(void)state;
	get(&worker, A);
	get(&worker, A);
	assert_works_for(&worker, A);
}

/* Who collects has told of the last one, too, and of the others before. */
static void who_tells_of_several_is_not_believed(void **state)
{
	struct goroutine worker = {};

	(void)state;
	for (int i = 0; i < 100; i++) {
		get(&worker, A);
		get(&worker, B);
		goroutine_tells(&worker, A);
		goroutine_tells(&worker, B);
	}
	get(&worker, C);
	assert_int_equal(goroutine_has(&worker), 0);
}

static void it_is_believed_again_when_it_was_seen_to(void **state)
{
	struct goroutine worker = {};

	(void)state;
	get(&worker, A);
	get(&worker, B);
	for (int i = 0; i < GOROUTINE_COLLECTS; i++) {
		assert_int_equal(goroutine_has(&worker), 0);
		do_one(&worker, i % 2 ? A : B);
	}
	get(&worker, C);
	assert_works_for(&worker, C);
}

static void distrust_has_an_end(void **state)
{
	struct goroutine worker = {};

	(void)state;
	for (int i = 0; i < 100; i++)
		get(&worker, i % 2 ? A : B);
	assert_int_equal(goroutine_has(&worker), 0);
	for (int i = 0; i < GOROUTINE_COLLECTS_MAX; i++)
		do_one(&worker, C);
	assert_works_for(&worker, C);
}

static void it_has_told_another_one(void **state)
{
	struct goroutine worker = {};

	(void)state;
	get(&worker, A);
	goroutine_tells(&worker, B);
	assert_int_equal(goroutine_has(&worker), 0);
}

/* What it was handed is done: it may wake whoever waits for that it takes the next one. */
static void who_is_done_may_tell_others(void **state)
{
	struct goroutine worker = {};

	(void)state;
	get(&worker, A);
	goroutine_tells(&worker, A);
	goroutine_tells(&worker, B);
	assert_works_for(&worker, A);
}

/* Nobody waits yet when a job ends: it may be something else that was closed. */
static void what_is_closed_says_little(void **state)
{
	struct goroutine worker = {};

	(void)state;
	get(&worker, A);
	worker.flags |= GOROUTINE_ENDED;
	get(&worker, B);
	assert_int_equal(goroutine_has(&worker), B);
	assert_int_equal(worker.handed.doubtful, DOUBT_OTHERS);
}

static void but_enough_of_who_does_one_by_one(void **state)
{
	struct goroutine worker = proven();

	(void)state;
	get(&worker, A);
	worker.flags |= GOROUTINE_ENDED;
	get(&worker, B);
	assert_works_for(&worker, B);
	get(&worker, C); /* nothing was done about B */
	assert_int_equal(goroutine_has(&worker), 0);
}

static void an_answer_may_come_after_what_was_sent(void **state)
{
	struct goroutine worker = proven();

	(void)state;
	get(&worker, A);
	worker.flags |= GOROUTINE_SENT;
	get(&worker, B);
	assert_int_equal(worker.handed.doubtful, DOUBT_OTHERS);
	worker.flags |= GOROUTINE_SENT;
	get(&worker, OVER);
	worker.flags |= GOROUTINE_SENT;
	get(&worker, C);
	assert_works_for(&worker, C);
}

static void signals(void **state)
{
	struct goroutine worker = {};

	(void)state;
	get(&worker, A);
	goroutine_is_signalled(&worker, 0);
	assert_works_for(&worker, A); /* it waits for something that its job needs */
	goroutine_tells(&worker, A);
	goroutine_is_signalled(&worker, 0);
	assert_works_for(&worker, 0);
	get(&worker, B);
	goroutine_is_signalled(&worker, 1);
	assert_works_for(&worker, 0);
}

static void work_of_nobody(void **state)
{
	struct goroutine worker = proven();

	(void)state;
	do_one(&worker, A);
	get(&worker, 0);
	assert_works_for(&worker, 0);
	get(&worker, B);
	assert_works_for(&worker, B);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(one_job_after_the_other, begin),
	    cmocka_unit_test_setup(messages_are_collected, begin),
	    cmocka_unit_test_setup(several_jobs_of_one_request, begin),
	    cmocka_unit_test_setup(who_tells_of_several_is_not_believed, begin),
	    cmocka_unit_test_setup(it_is_believed_again_when_it_was_seen_to, begin),
	    cmocka_unit_test_setup(distrust_has_an_end, begin),
	    cmocka_unit_test_setup(it_has_told_another_one, begin),
	    cmocka_unit_test_setup(who_is_done_may_tell_others, begin),
	    cmocka_unit_test_setup(what_is_closed_says_little, begin),
	    cmocka_unit_test_setup(but_enough_of_who_does_one_by_one, begin),
	    cmocka_unit_test_setup(an_answer_may_come_after_what_was_sent, begin),
	    cmocka_unit_test_setup(signals, begin),
	    cmocka_unit_test_setup(work_of_nobody, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
