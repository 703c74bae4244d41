// SPDX-License-Identifier: Apache-2.0
/* Single steps of the engine in event loops: which request a turn, or a connection, is for. */
#include "steps.h"
#include "runtimes/node/work.h"

static void loop_with_a_rival(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {.calls_end = 1};
	const struct call *c;

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &a);
	c = call(&client, &a);
	assert_int_equal(c->request, 0);
	assert_int_equal(c->veto, VETO_IDLE_LOOP);
	assert_int_equal(process()->tally.unattributed, 1);
	engine_answer(&client, &a, actor_thread(&a));
	assert_int_equal(process()->tally.unattributed, 0);
}

/* Calls of which nothing is known may all be one request's, and none of one that came later. */
static void loop_with_a_newer_rival(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server[5] = {},
		      client[3] = {{.calls_end = 1}, {.calls_end = 1}, {.calls_end = 1}};
	const struct call *c;

	(void)state;
	take(&server[0], 7, &a);
	take(&server[1], 8, &a);
	assert_int_equal(call(&client[0], &a)->request, 0);
	store_turn++;
	a = actor(TID, 1);
	take(&server[2], 9, &a);
	assert_int_equal(call(&client[1], &a)->request, 0);
	assert_int_equal(process()->tally.unattributed, 2);
	end(7);
	end(8);
	store_turn++;
	a = actor(TID, 1);
	take(&server[3], 10, &a);
	take(&server[4], 11, &a);
	c = call(&client[2], &a);
	assert_int_equal(c->request, 0);
	assert_int_equal(c->veto, VETO_IDLE_LOOP);
}

static void loop_in_another_turn(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, client = {.calls_end = 1};

	(void)state;
	take(&server, 7, &a);
	assert_int_equal(call(&client, &a)->evidence, EVIDENCE_LOOP);
	engine_answer(&client, &a, actor_thread(&a));
	store_turn++;
	assert_int_equal(call(&client, &a)->request, 0);
}

/* The loop's next turn. */
static struct actor next_turn(void)
{
	store_turn++;
	return actor(TID, 1);
}

/* Two requests wait for the answer that one of them has asked for, and both go on with it. */
static void loop_with_a_shared_answer(void **state)
{
	struct actor a = actor(TID, 1);
	struct process *p = process_make(&a.key.tgid);
	struct socket first = {}, second = {}, one = {.calls_end = 1}, other = {.calls_end = 1};

	(void)state;
	has_shown(p, HABIT_PROMPT);
	has_shown(p, HABIT_DIRECT);
	has_shown(p, HABIT_FAITHFUL);
	has_shown(p, HABIT_SERIAL);
	take(&first, 7, &a);
	assert_int_equal(call(&one, &a)->request, 7);
	a = next_turn();
	take(&second, 8, &a);
	assert_int_equal(call(&other, &a)->request, 8);
	a = next_turn();
	engine_answer(&other, &a, actor_thread(&a));
	a = next_turn();
	engine_answer(&one, &a, actor_thread(&a));
	assert_int_equal(call(&one, &a)->request, 7);
	assert_int_equal(call(&other, &a)->veto, VETO_IDLE_LOOP);
}

/* Node knows nobody who waits for the answer to a call: what was read still leads to it, not what
 * was answered. */
static void loop_for_nobody(void **state)
{
	struct actor a = actor(TID, 1);
	struct process *p = process_make(&a.key.tgid);
	struct socket server = {}, one = {.calls_end = 1}, other = {.calls_end = 1};

	(void)state;
	has_shown(p, HABIT_PROMPT);
	has_shown(p, HABIT_DIRECT);
	has_shown(p, HABIT_FAITHFUL);
	has_shown(p, HABIT_SERIAL);
	take(&server, 7, &a);
	a.own = 1;
	assert_int_equal(call(&one, &a)->evidence, EVIDENCE_LOOP);
	a = next_turn();
	engine_answer(&one, &a, actor_thread(&a));
	a.own = 1;
	assert_int_equal(call(&one, &a)->veto, VETO_NO_EVIDENCE);
	a.own = 0;
	assert_int_equal(call(&other, &a)->evidence, EVIDENCE_ANSWER);
}

/* What a timer does is of nobody that is known, and tells nothing about other calls. */
static void loop_in_its_timers(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, client = {.calls_end = 1}, own = {};
	const struct call *c;

	(void)state;
	take(&server, 7, &a);
	a.phase = PHASE_APART;
	c = call(&client, &a);
	assert_int_equal(c->request, 0);
	assert_int_equal(c->veto, VETO_NO_EVIDENCE);
	engine_answer(&client, &a, actor_thread(&a));
	end(7);
	engine_connect(&own, &a, NULL);
	a.phase = PHASE_READING;
	assert_int_equal(call(&own, &a)->request, 0);
	take(&server, 8, &a);
	assert_int_equal(call(&client, &a)->request, 8); /* on the same path */
	assert_int_equal(process()->own.made, 0);
}

/* The loop has given work to another thread, for `request`, and goes on with it in a later turn. */
static struct actor goes_on(__u64 request)
{
	struct actor a = next_turn();

	a.phase = PHASE_WORK;
	a.named = request;
	return a;
}

/* The only request may be meant then, and is the one for which the next work is given. */
static void loop_with_work_that_is_done(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, client = {.calls_end = 1};
	const struct call *c;

	(void)state;
	a.phase = PHASE_READING;
	take(&server, 7, &a);
	assert_int_equal(work_given_for(actor_thread(&a), &a, 0), 7);
	a = goes_on(7);
	assert_int_equal(work_given_for(actor_thread(&a), &a, 7), 7);
	c = call(&client, &a);
	assert_int_equal(c->request, 7);
	assert_int_equal(c->evidence, EVIDENCE_WORK);
	assert_int_equal(process()->habit[HABIT_PROMPT].broken, 1);
	end(7);
	a = goes_on(7);
	assert_int_equal(work_given_for(actor_thread(&a), &a, 7), 0);
	assert_int_equal(call(&client, &a)->request, 0);
}

/* Who is done may begin what another one waits for: its work, or its call. */
static void loop_with_work_beside_others(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {.calls_end = 1};
	const struct call *c;

	(void)state;
	a.phase = PHASE_READING;
	take(&first, 7, &a);
	a = next_turn();
	a.phase = PHASE_READING;
	take(&second, 8, &a);
	assert_int_equal(work_given_for(actor_thread(&a), &a, 0), 0);
	a = goes_on(7);
	assert_int_equal(work_given_for(actor_thread(&a), &a, 7), 0);
	c = call(&client, &a);
	assert_int_equal(c->veto, VETO_IDLE_LOOP);
	assert_int_equal(c->cause.trace_id[0], 0);
	assert_int_equal(request_standing(7), STANDING_WAITING); /* most likely */
}

/* A thread that has no requests: what others post to it is for the only one that is open. */
static void thread_that_others_post_to(void **state)
{
	struct actor a = actor(TID, 1), b = actor(OTHER, 1);
	struct socket first = {}, second = {}, client = {.calls_end = 1};

	(void)state;
	take(&first, 7, &a);
	worker_make(&b.key)->flags |= WORKER_POSTED;
	b.phase = PHASE_WORK;
	b.named = 7;
	assert_int_equal(call(&client, &b)->request, 7);
	b = actor(OTHER, 1);
	engine_answer(&client, &b, actor_thread(&b));
	b.phase = PHASE_READING;
	assert_int_equal(call(&client, &b)->request, 7);
	assert_int_equal(work_given_for(actor_thread(&b), &b, 0), 7);
	b = actor(OTHER, 1);
	engine_answer(&client, &b, actor_thread(&b));
	take(&second, 8, &a);
	b.phase = PHASE_READING;
	assert_int_equal(work_given_for(actor_thread(&b), &b, 0), 0);
	assert_int_equal(call(&client, &b)->veto, VETO_IDLE_PROCESS);
	b.phase = PHASE_APART;
	end(8);
	assert_int_equal(call(&client, &b)->request, 0);
}

/* What a timer asks for is for nobody, though a request is open. */
static void loop_with_work_of_its_own(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, client = {.calls_end = 1};

	(void)state;
	a.phase = PHASE_READING;
	take(&server, 7, &a);
	a.phase = PHASE_APART;
	assert_int_equal(work_given_for(actor_thread(&a), &a, 0), 0);
	a = goes_on(0);
	assert_int_equal(call(&client, &a)->veto, VETO_NO_EVIDENCE);
	assert_int_equal(process()->own.made, 0);
}

/* What was learnt of paths before timers were told apart may be of them. */
static void loop_whose_timers_become_known(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, client = {.calls_end = 1};

	(void)state;
	take(&server, 7, &a);
	end(7);
	assert_int_equal(call(&client, &a)->request, 0);
	engine_answer(&client, &a, actor_thread(&a));
	assert_int_equal(process()->own.made, 1);
	a.phase = PHASE_READING;
	take(&server, 8, &a);
	assert_int_equal(call(&client, &a)->request, 8);
	assert_int_equal(process()->own.made, 0);
}

/* What was left for later in a turn may be of any request that does not wait for a call. */
static void loop_that_goes_on_later(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, one = {.calls_end = 1}, other = {.calls_end = 1};

	(void)state;
	take(&first, 7, &a);
	assert_int_equal(call(&one, &a)->request, 7);
	engine_answer(&one, &a, actor_thread(&a));
	take(&second, 8, &a);
	a.phase = PHASE_LATER;
	assert_int_equal(call(&other, &a)->veto, VETO_IDLE_LOOP); /* 7 has an answer */
	engine_answer(&other, &a, actor_thread(&a));
	end(7);
	engine_read(&second, &a, actor_thread(&a));
	assert_int_equal(call(&one, &a)->request, 8);
}

/* Where any thread goes on with what another one has read, any request may be called for. */
static void loops_that_share(void **state)
{
	struct actor a = actor(TID, 1), b = actor(TID + 1, 1);
	struct socket first = {}, second = {}, third = {}, one = {.calls_end = 1},
		      other = {.calls_end = 1};

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &b);
	assert_int_equal(call(&one, &a)->request, 7);
	assert_int_equal(call(&other, &b)->request, 8);
	assert_true(process_has_habit(process(), HABIT_LOOPS_APART));
	engine_answer(&one, &b, actor_thread(&b));
	assert_false(process_has_habit(process(), HABIT_LOOPS_APART));
	take(&third, 9, &a);
	engine_read(&first, &b, actor_thread(&b));
	assert_int_equal(call(&one, &b)->veto, VETO_IDLE_PROCESS); /* 9 may be b's work by now */
	end(9);
	engine_answer(&one, &b, actor_thread(&b));
	engine_answer(&other, &b, actor_thread(&b));
	assert_int_equal(call(&other, &b)->veto, VETO_IDLE_PROCESS); /* 7 has an answer, too */
	end(7);
	engine_answer(&other, &b, actor_thread(&b));
	engine_read(&second, &b, actor_thread(&b));
	assert_int_equal(call(&one, &b)->request, 8);
}

static void woken_loop_that_shares(void **state)
{
	struct actor a = actor(TID, 1), b = actor(OTHER, 1);
	struct socket first = {}, second = {}, one = {.calls_end = 1}, other = {.calls_end = 1};
	__u32 tgid = TGID;

	(void)state;
	take(&first, 7, &a);
	engine_respond(&first);
	take(&second, 8, &a);
	engine_hand_over(&a, &b.key, EVIDENCE_WAKE);
	assert_int_equal(call(&one, &b)->request, 8);
	engine_answer(&one, &b, actor_thread(&b));
	engine_read(&second, &a, actor_thread(&a));
	engine_hand_over(&a, &b.key, EVIDENCE_WAKE);
	process_breaks(process_make(&tgid), HABIT_LOOPS_APART);
	assert_int_equal(call(&other, &b)->veto, VETO_IDLE_PROCESS);
}

/* A connection that was asked for in one turn, and is connected in another one. */
static void connect_that_was_asked_for(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {};
	struct purpose purpose = {}, never = {};

	(void)state;
	take(&first, 7, &a);
	engine_open(&purpose, &a);
	assert_int_equal(process()->tally.in[STANDING_CONNECTING], 1);
	store_turn++;
	a = actor(TID, 1);
	take(&second, 8, &a);
	a.phase = PHASE_APART;
	engine_connect(&client, &a, &purpose);
	assert_int_equal(call(&client, &a)->request, 7);
	assert_int_equal(process()->tally.in[STANDING_WAITING], 1);
	a.phase = PHASE_READING;
	engine_open(&never, &a);
	assert_int_equal(process()->tally.in[STANDING_CONNECTING], 1);
	engine_opened(&never); /* its name has no address */
	assert_int_equal(process()->tally.in[STANDING_CONNECTING], 0);
	assert_int_equal(process()->tally.in[STANDING_IDLE], 1);
}

static void connect_in_another_turn(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {};
	const struct call *c;

	(void)state;
	take(&first, 7, &a);
	engine_connect(&client, &a, NULL);
	store_turn++;
	a = actor(TID, 1);
	take(&second, 8, &a);
	c = call(&client, &a);
	assert_int_equal(c->request, 7);
	assert_int_equal(c->evidence, EVIDENCE_CONNECT);
}

/* A call that is counted as unattributed may be an older request's, but not the newest one's. */
static void connect_that_a_newer_request_may_use(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {};
	__u32 tgid = TGID;
	struct worker *w;

	(void)state;
	take(&first, 7, &a);
	engine_connect(&client, &a, NULL);
	process_make(&tgid)->single_use_broken = ~0ULL;
	w = worker_make(&a.key);
	w->tally.unattributed = 1;
	w->counted = w->taken;
	store_turn++;
	a = actor(TID, 1);
	take(&second, 8, &a);
	assert_int_equal(call(&client, &a)->veto, VETO_IDLE_LOOP);
}

/* The answer to a call that waits for another one was read first: a call may go on from there. */
static void call_that_another_answer_leads_to(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client[3] = {};
	const struct call *c;

	(void)state;
	take(&first, 7, &a);
	client[0].calls_end = client[1].calls_end = client[2].calls_end = 1;
	assert_int_equal(call(&client[0], &a)->request, 7);
	assert_int_equal(call(&client[1], &a)->request, 7);
	store_turn++;
	a = actor(TID, 1);
	engine_answer(&client[0], &a, actor_thread(&a));
	take(&second, 8, &a);
	c = call(&client[0], &a);
	assert_int_equal(c->request, 0);
	assert_int_equal(c->veto, VETO_SAME_TURN);
}

/* But where it is told that a call comes of reading, it is for what was read last. */
static void call_that_is_told_to_come_of_reading(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client[3] = {};

	(void)state;
	a.phase = PHASE_READING;
	client[0].calls_end = client[1].calls_end = client[2].calls_end = 1;
	take(&first, 7, &a);
	assert_int_equal(call(&client[0], &a)->request, 7);
	assert_int_equal(call(&client[1], &a)->request, 7);
	engine_answer(&client[0], &a, actor_thread(&a));
	take(&second, 8, &a);
	assert_int_equal(call(&client[0], &a)->request, 8);
}

enum { OFTEN = 18 }; /* more than it takes to be believed to be direct, or prompt */

/* A loop that has called so often before it read on does not call for what it read before. */
static void loop_that_calls_at_once(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, client[OFTEN] = {};
	__u64 id = 7;

	(void)state;
	for (__u32 i = 0; i < OFTEN; i++) {
		client[i].calls_end = 1;
		take(&server, id + i, &a);
		assert_int_equal(call(&client[i], &a)->request, id + i);
	}
	assert_true(process_has_habit(process(), HABIT_DIRECT));
	engine_answer(&client[0], &a, actor_thread(&a));
	engine_answer(&client[1], &a, actor_thread(&a));
	assert_int_equal(call(&client[0], &a)->veto, VETO_IDLE_LOOP);
}

/* The same where it asks other processes of the host over unix sockets. */
static void loop_that_asks_peers_at_once(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, accepted[OFTEN] = {};
	__u64 id = 7;

	(void)state;
	for (__u32 i = 0; i < OFTEN; i++) {
		take(&server, id + i, &a);
		engine_peer_send(&accepted[i], &a);
		assert_int_equal(accepted[i].own.arrival[0].request, id + i);
	}
	assert_true(process_has_habit(process(), HABIT_DIRECT));
}

/* A loop that has so often connected for what it has just read does not do so later. */
static void loop_that_connects_at_once(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, client[OFTEN] = {}, next = {};
	__u64 id = 7;

	(void)state;
	for (__u32 i = 0; i < OFTEN; i++) {
		store_turn++;
		a = actor(TID, 1);
		take(&server, id + i, &a);
		engine_connect(&client[i], &a, NULL);
		assert_int_equal(call(&client[i], &a)->evidence, EVIDENCE_CONNECT);
	}
	/* The answer to the first comes in pieces, and its response has not begun. */
	engine_answer(&client[0], &a, actor_thread(&a));
	store_turn++;
	a = actor(TID, 1);
	take(&server, id + OFTEN, &a);
	engine_connect(&next, &a, NULL);
	assert_int_equal(call(&next, &a)->request, id + OFTEN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(loop_with_a_rival),
	    CASE(loop_with_a_newer_rival),
	    CASE(loop_in_another_turn),
	    CASE(loop_with_a_shared_answer),
	    CASE(loop_for_nobody),
	    CASE(loop_in_its_timers),
	    CASE(loop_with_work_that_is_done),
	    CASE(loop_with_work_beside_others),
	    CASE(thread_that_others_post_to),
	    CASE(loop_with_work_of_its_own),
	    CASE(loop_whose_timers_become_known),
	    CASE(loop_that_goes_on_later),
	    CASE(loops_that_share),
	    CASE(woken_loop_that_shares),
	    CASE(connect_that_was_asked_for),
	    CASE(connect_in_another_turn),
	    CASE(connect_that_a_newer_request_may_use),
	    CASE(call_that_another_answer_leads_to),
	    CASE(call_that_is_told_to_come_of_reading),
	    CASE(loop_that_connects_at_once),
	    CASE(loop_that_calls_at_once),
	    CASE(loop_that_asks_peers_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
