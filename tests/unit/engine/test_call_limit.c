// SPDX-License-Identifier: Apache-2.0
/* How the calls of a loop are counted at a time. */
#include <stdlib.h>

#include "steps.h"
#include "engine/call_limit.h"

#define ADDRESSES 256
#define PORTS     64

static int compare(const void *a, const void *b)
{
	__u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	return (x > y) - (x < y);
}

/* Numbers of many peers that are alike: none is 0, none is another's. */
static void check_numbers(int where)
{
	static __u32 number[ADDRESSES * PORTS];

	for (__u32 i = 0; i < ADDRESSES * PORTS; i++) {
		__u64 address[2] = {};

		/* As the kernel has them: the last byte of an IPv4 address is the highest one. */
		address[where] = 0x0a | (__u64)(i / PORTS) << 24;
		number[i] = call_limit_peer_number(address, __builtin_bswap16(8000 + i % PORTS));
		assert_int_not_equal(number[i], 0);
	}
	qsort(number, (size_t)ADDRESSES * PORTS, sizeof(number[0]), compare);
	for (__u32 i = 1; i < ADDRESSES * PORTS; i++)
		assert_int_not_equal(number[i], number[i - 1]);
}

static void peers_have_numbers_of_their_own(void **state)
{
	(void)state;
	check_numbers(0);
	check_numbers(1);
}

/* Three connections are asked for; when the last one calls, the first call is answered long ago. */
static void what_was_asked_for_by_then_was_under_way(void **state)
{
	struct call_limit_moment m = {};
	struct call_limit k = {.asked = 3, .opening = 2};

	(void)state;
	assert_int_equal(call_limit_moment_call(&m, &k, 1, 1), 1);
	k.opening = 1;
	assert_int_equal(call_limit_moment_call(&m, &k, 2, 1), 2);
	k.opening = 0;
	assert_int_equal(call_limit_moment_call(&m, &k, 3, 1), 3);
}

/* What is asked for later was not, and calls on connections that are used again tell nothing new.
 */
static void what_was_asked_for_later_was_not(void **state)
{
	struct call_limit_moment m = {};
	struct call_limit k = {.asked = 2, .opening = 1};

	(void)state;
	assert_int_equal(call_limit_moment_call(&m, &k, 1, 1), 1);
	k.asked = 3;
	assert_int_equal(call_limit_moment_call(&m, &k, 3, 1), 1);
	k.opening = 0;
	assert_int_equal(call_limit_moment_call(&m, &k, 0, 1), 1);
	assert_int_equal(call_limit_moment_call(&m, &k, 2, 1), 2);
}

/* Another moment is looked at when there may have been more. */
static void the_moment_is_that_of_the_most(void **state)
{
	struct call_limit_moment m = {};
	struct call_limit k = {.asked = 2, .opening = 1};

	(void)state;
	assert_int_equal(call_limit_moment_call(&m, &k, 1, 1), 1);
	k = (struct call_limit){.asked = 6, .opening = 4};
	assert_int_equal(call_limit_moment_call(&m, &k, 0, 2), 2);
	assert_int_equal(call_limit_moment_call(&m, &k, 6, 1), 3);
}

/* The loop `a` has asked for a connection for the request that it has just read, and calls. */
static __u32 asked_by(const struct actor *a, enum actor_phase phase, __u32 faithful)
{
	static struct socket server, client;
	struct actor caller = *a;
	struct purpose purpose = {};
	__u32 tgid = TGID;
	struct process *p;

	server = client = (struct socket){};
	take(&server, 10, a);
	engine_open(&purpose, a);
	engine_connect(&client, a, &purpose);
	caller.phase = phase;
	call(&client, &caller);
	p = process_lookup(&tgid);
	assert_non_null(p);
	p->habit[HABIT_FAITHFUL].kept = faithful;
	return call_limit_asked(p, &caller, &client, socket_last_call(&client));
}

static void a_connection_that_was_asked_for_has_a_number(void **state)
{
	struct actor a = actor(TID, 1);

	(void)state;
	a.phase = PHASE_READING;
	assert_int_equal(asked_by(&a, PHASE_APART, habit_rules[HABIT_FAITHFUL].least), 1);
}

/* Programs may connect first, and wait for their turn to call then. */
static void not_one_whose_call_comes_of_reading(void **state)
{
	struct actor a = actor(TID, 1);

	(void)state;
	a.phase = PHASE_READING;
	assert_int_equal(asked_by(&a, PHASE_READING, habit_rules[HABIT_FAITHFUL].least), 0);
}

/* Others may be given the connection. */
static void not_before_connects_are_faithful(void **state)
{
	struct actor a = actor(TID, 1);

	(void)state;
	a.phase = PHASE_READING;
	assert_int_equal(asked_by(&a, PHASE_APART, habit_rules[HABIT_FAITHFUL].least - 1), 0);
}

/* Only Node is known to ask for a connection when a call has its turn. */
static void not_where_it_is_not_told_what_comes_of_reading(void **state)
{
	struct actor a = actor(TID, 1);

	(void)state;
	assert_int_equal(asked_by(&a, PHASE_APART, habit_rules[HABIT_FAITHFUL].least), 0);
}

/* Connections that the loop `a` has asked for, and that have no call yet. */
static __u32 opening_after(const struct actor *a)
{
	struct purpose purpose = {};
	__u32 tgid = TGID;

	engine_open(&purpose, a);
	assert_non_null(process_lookup(&tgid));
	return process_lookup(&tgid)->call_limit.opening;
}

/* Who waits for a connection gets a new one when another one was closed, beside what is read. */
static void what_is_asked_for_beside_what_is_read_counts(void **state)
{
	struct actor a = actor(TID, 1);

	(void)state;
	a.phase = PHASE_APART;
	assert_int_equal(opening_after(&a), 1);
}

static void what_is_accepted_does_not(void **state)
{
	struct actor a = actor(TID, 1);

	(void)state;
	a.phase = PHASE_APART;
	a.accepts = 1;
	assert_int_equal(opening_after(&a), 0);
}

/* So many calls there have been at once; `closed` connections were closed in this turn. */
static int free_beside_closed(__u32 busy, __u32 closed, __u32 asked)
{
	struct call_limit k = {.busy = busy, .most = 4, .closed = closed, .asked = asked};
	struct call_limit_peer peer = {.busy = busy, .most = 4};

	return call_limit_freedom(&k, &peer);
}

/* In Node: connections are only gone for its limits when the turn is over. */
static void what_was_closed_counts_to_the_end_of_the_turn(void **state)
{
	(void)state;
	assert_int_equal(free_beside_closed(2, 1, 9), CALL_LIMIT_FREE_NOW | CALL_LIMIT_FREE);
	assert_int_equal(free_beside_closed(2, 2, 9), 0);
	assert_int_equal(free_beside_closed(2, 2, 0), CALL_LIMIT_FREE_NOW | CALL_LIMIT_FREE);
}

/* Room is given away at once, but not that of connections that were closed. */
static void only_a_new_turn_forgets_what_was_closed(void **state)
{
	struct call_limit k = {.closed = 2, .answered = 1, .gone = 1};

	(void)state;
	call_limit_turns(&k, 0);
	assert_int_equal(k.answered + k.gone, 0);
	assert_int_equal(k.closed, 2);
	call_limit_turns(&k, 1);
	assert_int_equal(k.closed, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(peers_have_numbers_of_their_own),
	    CASE(what_was_asked_for_by_then_was_under_way),
	    CASE(what_was_asked_for_later_was_not),
	    CASE(the_moment_is_that_of_the_most),
	    CASE(a_connection_that_was_asked_for_has_a_number),
	    CASE(not_one_whose_call_comes_of_reading),
	    CASE(not_before_connects_are_faithful),
	    CASE(not_where_it_is_not_told_what_comes_of_reading),
	    CASE(what_is_asked_for_beside_what_is_read_counts),
	    CASE(what_is_accepted_does_not),
	    CASE(what_was_closed_counts_to_the_end_of_the_turn),
	    CASE(only_a_new_turn_forgets_what_was_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
