// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that a loop makes of its own, by timers that run in the turn in which it has read a
 * request: they are told by the way that they come.
 */
#include "program.h"
#include "steps.h"

/* Processes that are new, which have much to learn. */
#define PROCESSES 60
#define REQUESTS  400
#define RIGHT     90 /* of a hundred calls at least */

enum { REQUESTS_PATH = 1, OWN_PATH, OTHER_PATH };

/* Runs `path` in a new turn. */
static struct actor next_turn(__u32 path)
{
	struct actor a;

	store_turn++;
	a = actor(TID, 1);
	a.path = path;
	return a;
}

/* A call of its own before the first request. */
static void calls_at_start(struct socket *client)
{
	struct actor a = next_turn(OWN_PATH);

	engine_connect(client, &a, NULL);
	assert_int_equal(call(client, &a)->evidence, EVIDENCE_NONE);
	engine_answer(client, &a, actor_thread(&a));
	assert_int_equal(call(client, &a)->evidence, EVIDENCE_NONE);
	engine_answer(client, &a, actor_thread(&a));
}

/* A request is read, and a timer calls on `path` in the same turn. */
static const struct call *calls_beside(struct socket *client, __u64 id, __u32 path)
{
	struct actor a = next_turn(REQUESTS_PATH);
	struct socket server = {};
	const struct call *c;

	take(&server, id, &a);
	a.path = path;
	c = call(client, &a);
	store_turn++;
	a = actor(TID, 1);
	engine_answer(client, &a, actor_thread(&a));
	end(id);
	return c;
}

/* However often it comes like that. */
static void on_a_path_that_is_known(void **state)
{
	struct socket client = {};

	(void)state;
	calls_at_start(&client);
	for (__u64 id = 7; id < 7 + 3 * PATH_SURE; id++) {
		const struct call *c = calls_beside(&client, id, OWN_PATH);

		assert_int_equal(c->evidence, EVIDENCE_NONE);
		assert_int_equal(c->veto, VETO_OWN_PATH);
	}
}

/* Another timer, or the same code moved by a compiler, calls for the first time. */
static void on_a_new_path(void **state)
{
	struct socket client = {};
	const struct call *c;

	(void)state;
	calls_at_start(&client);
	c = calls_beside(&client, 7, OTHER_PATH);
	assert_int_equal(c->evidence, EVIDENCE_NONE);
	assert_int_equal(c->veto, VETO_NEW_PATH);
}

/* The same in simulated programs: nothing is wrong, and nearly all else is right. */
static void of_four_timers(void **state)
{
	static const uint32_t in_flight[] = {1, 3, 8, 64};
	struct program program = {.kind = PROGRAM_LOOP,
				  .requests = REQUESTS,
				  .calls_max = 3,
				  .keep = true,
				  .background = true,
				  .own_ways = 4,
				  .timers_beside = true};
	uint32_t calls = 0, right = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(in_flight) / sizeof(in_flight[0]); i++)
		for (program.seed = 1; program.seed <= PROCESSES; program.seed++) {
			struct score score;

			program.in_flight = in_flight[i];
			score = program_run(&program);
			assert_int_equal(score.wrong + score.own_wrong, 0);
			right += score.right;
			calls += score.right + score.unknown;
		}
	print_message("right: %u of %u\n", right, calls);
	assert_true(100 * right >= RIGHT * calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(on_a_path_that_is_known),
	    CASE(on_a_new_path),
	    CASE(of_four_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
