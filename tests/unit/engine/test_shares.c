// SPDX-License-Identifier: Apache-2.0
/*
 * What a process may have of the tables, what is said while its runtime is not known, and what is
 * left of a process whose id another one has.
 */
#include "steps.h"

enum { LIAR = 200, ROOM = 3 };

/* A goroutine of a process, which works on `named`. */
static struct actor goroutine(__u32 tgid, __u64 address, __u64 named)
{
	return (struct actor){.key = {.tgid = tgid, .context = address},
			      .kind = ACTOR_RUNTIME,
			      .by = EVIDENCE_GOROUTINE,
			      .runtime = RUNTIME_GO,
			      .named = named};
}

static struct process *process_of(__u32 tgid)
{
	return process_lookup(&tgid);
}

/* Who has the share of its table for itself fills no more than that. */
static void others_have_room(void **state)
{
	struct actor honest = actor(TID, 0);
	struct socket server = {}, client = {}, liars = {};

	(void)state;
	store_workers = ROOM;
	for (__u64 id = 1; id <= 2 * ROOM; id++) {
		struct actor liar = goroutine(LIAR, id * 64, 0);

		take(&liars, id, &liar);
	}
	assert_int_equal(store_workers_count(), ROOM);
	assert_int_equal(process_of(LIAR)->workers.taken, ROOM);
	take(&server, 100, &honest);
	assert_int_equal(call(&client, &honest)->request, 100);
}

/* Of a process that has no more room some calls are not known, and that is why. */
static void without_room_nothing_is_known(void **state)
{
	struct actor a = actor(TID, 0), b = actor(OTHER, 0);
	struct socket first = {}, second = {}, one = {}, two = {};

	(void)state;
	store_workers = 1;
	take(&first, 7, &a);
	take(&second, 8, &b);
	assert_int_equal(call(&two, &b)->request, 0);
	assert_int_equal(socket_last_call(&two)->veto, VETO_SHARE);
	assert_int_equal(call(&one, &a)->request, 7);
	/* Requests without a worker count as rivals nevertheless. */
	assert_int_equal(tally_open(&process()->tally), 2);
}

static void room_is_given_back(void **state)
{
	struct actor a = actor(TID, 0), b = actor(OTHER, 0);
	struct socket first = {}, second = {};

	(void)state;
	store_workers = 1;
	take(&first, 7, &a);
	end(7);
	engine_exit(&a.key);
	assert_int_equal(process()->workers.taken, 0);
	take(&second, 8, &b);
	assert_non_null(actor_worker(&b));
}

/* The children that a process makes for a request are its own affair, too. */
static void children_are_paid_for(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket server = {};

	(void)state;
	store_workers = ROOM;
	take(&server, 7, &a);
	for (__u32 tgid = LIAR; tgid < LIAR + 2 * ROOM; tgid++) {
		const struct worker_key child = {.tgid = tgid, .tid = tgid};

		engine_hand_over(&a, &child, EVIDENCE_FORK);
	}
	assert_int_equal(store_workers_count(), ROOM);
	for (__u32 tgid = LIAR; tgid < LIAR + 2 * ROOM; tgid++) {
		const struct worker_key child = {.tgid = tgid, .tid = tgid};

		engine_exit(&child);
	}
	assert_int_equal(process()->workers.taken, 1);
}

/* What a process has paid for is not returned to the next one of its id. */
static void room_of_another_process(void **state)
{
	struct actor a = actor(TID, 0), b = actor(OTHER, 0);
	struct socket first = {}, second = {};

	(void)state;
	take(&first, 7, &a);
	store_process_ends(TGID);
	take(&second, 8, &b);
	engine_exit(&a.key);
	assert_int_equal(process()->workers.taken, 1);
}

/* Where there are many goroutines, those without a request have no entry. */
static void goroutines_end_with_their_requests(void **state)
{
	struct socket server = {};

	(void)state;
	for (__u64 id = 1; id <= 2 * PROCESS_WORKERS_KEPT; id++) {
		struct actor a = goroutine(TGID, id * 64, 0);

		take(&server, id, &a);
		end(id);
	}
	assert_int_equal(store_workers_count(), PROCESS_WORKERS_KEPT);
}

/* Nothing is known of what a program does of which is not known what it runs. */
static void unknown_runtime(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket server = {}, client = {};

	(void)state;
	a.kind = ACTOR_UNKNOWN;
	a.runtime = RUNTIME_WANTED;
	take(&server, 7, &a);
	assert_int_equal(call(&client, &a)->request, 0);
	assert_int_equal(socket_last_call(&client)->veto, VETO_RUNTIME);
	assert_int_equal(process()->habit[HABIT_PROMPT].broken, 0);
	a.runtime = RUNTIME_OPAQUE; /* it is known that nothing can be */
	engine_answer(&client, &a, NULL);
	assert_int_equal(call(&client, &a)->veto, VETO_NO_EVIDENCE);
}

/* What was learnt of a process that was taken for another kind of program counts no more. */
static void runtime_becomes_known(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket server = {};
	struct process *p;

	(void)state;
	a.runtime = RUNTIME_WANTED;
	take(&server, 7, &a);
	p = process_of(TGID);
	for (__u32 id = 0; id < HABIT_COUNT; id++) {
		process_keeps(p, id);
		process_breaks(p, id);
	}
	p->single_use_broken = 1;
	a.runtime = RUNTIME_PYTHON;
	take(&server, 8, &a);
	for (__u32 id = 0; id < HABIT_COUNT; id++)
		assert_int_equal(p->habit[id].kept + p->habit[id].broken, 0);
	assert_int_equal(p->single_use_broken, 1); /* whatever it is, they were used again */
	assert_int_equal(tally_open(&p->tally), 2);
	process_breaks(p, HABIT_LOOPS_APART);
	take(&server, 9, &a);
	assert_false(process_has_habit(p, HABIT_LOOPS_APART)); /* learnt of what it is */
}

/* Who has the id of a process that made a child has not made it. */
static void maker_is_gone(void **state)
{
	struct actor a = actor(TID, 0), stranger = actor(OTHER, 0), child = actor(LIAR, 0);
	struct socket server = {}, client = {};

	(void)state;
	child.key.tgid = LIAR;
	take(&server, 7, &a);
	engine_hand_over(&a, &child.key, EVIDENCE_FORK);
	store_process_ends(TGID);
	take(&server, 8, &stranger); /* in a new process with the id of the old one */
	engine_exit(&child.key);
	assert_int_equal(process()->habit[HABIT_CHILDREN_END].kept, 0);
	engine_hand_over(&a, &child.key, EVIDENCE_FORK);
	store_process_ends(TGID);
	take(&server, 9, &stranger);
	end(7);
	call(&client, &child);
	assert_int_equal(process()->habit[HABIT_CHILDREN_END].broken, 0);
}

/* An answer to a call of a process that is gone says nothing of the next one of its id. */
static void caller_is_gone(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {.calls_end = 1}, server = {};

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &a);
	assert_int_equal(call(&client, &a)->counted, 1);
	store_process_ends(TGID);
	take(&server, 9, &a);
	engine_close(&client);
	assert_int_equal(process()->tally.unattributed, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(others_have_room),        CASE(without_room_nothing_is_known),
	    CASE(room_is_given_back),      CASE(children_are_paid_for),
	    CASE(room_of_another_process), CASE(goroutines_end_with_their_requests),
	    CASE(unknown_runtime),         CASE(runtime_becomes_known),
	    CASE(maker_is_gone),           CASE(caller_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
