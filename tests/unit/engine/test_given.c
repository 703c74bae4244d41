// SPDX-License-Identifier: Apache-2.0
/* Processes that were made for one connection: what they, and whoever they make, work for. */
#include "steps.h"

enum { CONNECTION = 0x1000, ANOTHER = 0x2000 };

/* How a process reads from a connection that it was given. */
static struct actor reader(__u64 connection, int given)
{
	struct actor a = actor(TID, 0);

	a.path = connection;
	a.given = given;
	return a;
}

static __u64 works_for(const struct actor *a)
{
	return given_request(process(), actor_thread(a));
}

static void one_request_after_the_other(void **state)
{
	struct actor a = reader(CONNECTION, 1);
	struct socket server = {};

	(void)state;
	take(&server, 7, &a);
	assert_int_equal(works_for(&a), 7);
	end(7);
	assert_int_equal(works_for(&a), 0);
	a.given = 0; /* it is not asked again */
	take(&server, 8, &a);
	assert_int_equal(works_for(&a), 8);
}

static void two_requests_at_once(void **state)
{
	struct actor a = reader(CONNECTION, 1);
	struct socket server = {};

	(void)state;
	take(&server, 7, &a);
	take(&server, 8, &a);
	assert_int_equal(works_for(&a), 0);
}

static void another_connection(void **state)
{
	struct actor a = reader(CONNECTION, 1), b = reader(ANOTHER, 1);
	struct socket first = {}, second = {};

	(void)state;
	take(&first, 7, &a);
	end(7);
	take(&second, 8, &b);
	assert_int_equal(works_for(&b), 0);
	end(8);
	take(&first, 9, &a);
	assert_int_equal(works_for(&a), 0);
}

static void accepted_by_itself(void **state)
{
	struct actor a = reader(CONNECTION, 0);
	struct socket server = {};

	(void)state;
	take(&server, 7, &a);
	assert_int_equal(works_for(&a), 0);
}

/* What an earlier request has left, and what has threads, may be at something else. */
static void who_comes_of_it(void **state)
{
	struct process p = {.served = 1, .given_ns = 100};

	(void)state;
	assert_true(given_works_for(&p, 100, 50, 1));
	assert_true(given_works_for(&p, 100, 150, 1));
	p.served = 2;
	assert_true(given_works_for(&p, 200, 50, 0));
	assert_false(given_works_for(&p, 200, 50, 1));
	assert_false(given_works_for(&p, 200, 150, 0));
	assert_true(given_works_for(&p, 200, 250, 1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(one_request_after_the_other), CASE(two_requests_at_once), CASE(another_connection),
	    CASE(accepted_by_itself),          CASE(who_comes_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
