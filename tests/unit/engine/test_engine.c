// SPDX-License-Identifier: Apache-2.0
/* Single steps of the engine: what each event does to tallies, evidence and traces_ctx_v1. */
#include "steps.h"

static void thread_with_one_request(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket server = {}, client = {};
	const struct call *c;

	(void)state;
	take(&server, 7, &a);
	assert_int_equal(process()->tally.in[STANDING_IDLE], 1);
	engine_connect(&client, &a, NULL);
	assert_int_equal(process()->tally.in[STANDING_CONNECTING], 1);
	c = call(&client, &a);
	assert_int_equal(c->request, 7);
	assert_int_equal(c->evidence, EVIDENCE_THREAD);
	assert_int_equal(process()->tally.in[STANDING_WAITING], 1);
	assert_int_equal(process()->tally.in[STANDING_CONNECTING], 0);
	assert_false(socket_is_quiet(&client));
	engine_answer(&client, &a, actor_thread(&a));
	assert_true(socket_is_quiet(&client));
	assert_int_equal(process()->tally.in[STANDING_ANSWERED], 1);
	engine_respond(&server);
	assert_int_equal(process()->tally.in[STANDING_RESPONDING], 1);
	end(7);
	assert_int_equal(tally_open(&process()->tally), 0);
}

static void call_after_the_end(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket server = {}, client = {};

	(void)state;
	take(&server, 7, &a);
	end(7);
	engine_connect(&client, &a, NULL);
	assert_int_equal(call(&client, &a)->request, 0);
	assert_int_equal(call(&client, &a)->veto, VETO_NONE);
}

static void traces_follow_the_worker(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket first = {}, second = {};
	__u64 span;

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &a);
	memcpy(&span, store_traces(TGID, TID)->span_id, sizeof(span));
	assert_int_equal(span, 8);
	end(8);
	memcpy(&span, store_traces(TGID, TID)->span_id, sizeof(span));
	assert_int_equal(span, 7);
	end(7);
	assert_null(store_traces(TGID, TID));
}

static void traces_end_with_the_thread(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket server = {};

	(void)state;
	take(&server, 7, &a);
	assert_int_equal(store_traces_count(), 1);
	engine_exit(&a.key);
	assert_int_equal(store_traces_count(), 0);
	end(7);
	assert_int_equal(tally_open(&process()->tally), 0);
}

/* A thread is made for a request whose standing another one changes, not in the tally yet. */
static const struct call *call_in_the_midst(struct socket *server, struct socket *client)
{
	struct actor a = actor(TID, 0), made = actor(TID + 1, 0);

	take(server, 7, &a);
	engine_hand_over(&a, &made.key, EVIDENCE_FORK);
	request_lookup(7)->state += STATE_CONNECT;
	engine_connect(client, &made, NULL);
	return call(client, &made);
}

static void thread_of_the_only_request(void **state)
{
	struct socket server = {}, client = {};
	const struct call *c;

	(void)state;
	c = call_in_the_midst(&server, &client);
	assert_int_equal(c->request, 7);
	assert_int_equal(c->veto, VETO_NONE);
	assert_int_equal(process()->tally.open, 1);
	end(7);
	assert_int_equal(process()->tally.open, 0);
}

static void thread_of_one_of_two_requests(void **state)
{
	struct actor other = actor(TID + 2, 0);
	struct socket server = {}, second = {}, client = {};
	const struct call *c;

	(void)state;
	take(&second, 8, &other);
	c = call_in_the_midst(&server, &client);
	assert_int_equal(c->request, 0);
	assert_int_equal(c->veto, VETO_IDLE_PROCESS);
}

/* Threads end with their requests; one that was given nothing of its own may be at any of them. */
static void thread_that_was_given_nothing(void **state)
{
	struct actor a = actor(TID, 0), other = actor(TID + 2, 0), made = actor(TID + 1, 0);
	struct socket first = {}, second = {}, client = {};

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &other);
	has_shown(process_make(&a.key.tgid), HABIT_THREADS_END);
	engine_hand_over(&a, &made.key, EVIDENCE_FORK);
	made.doubtful = 1;
	assert_int_equal(call(&client, &made)->veto, VETO_IDLE_PROCESS);
	engine_answer(&client, &made, actor_thread(&made));
	made.doubtful = 0;
	assert_int_equal(call(&client, &made)->request, 7);
	engine_answer(&client, &made, actor_thread(&made));
	end(8);
	made.doubtful = 1;
	assert_int_equal(call(&client, &made)->request, 7);
}

/* A goroutine reads a request, and its runtime names that one from then on. */
static struct actor goroutine_with(struct socket *s, __u64 address, __u64 id)
{
	struct actor a = {.key = {.tgid = TGID, .context = address},
			  .kind = ACTOR_RUNTIME,
			  .by = EVIDENCE_GOROUTINE,
			  .runtime = RUNTIME_GO};

	take(s, id, &a);
	a.named = id;
	return a;
}

/* Goroutines change threads: it is the runtime that tells whose calls are whose. */
static void goroutines_of_two_requests(void **state)
{
	struct socket first = {}, second = {}, client = {}, other = {};
	struct actor a, b;
	const struct call *c;

	(void)state;
	a = goroutine_with(&first, 64, 7);
	b = goroutine_with(&second, 128, 8);
	c = call(&client, &a);
	assert_int_equal(c->request, 7);
	assert_int_equal(c->evidence, EVIDENCE_GOROUTINE);
	assert_int_equal(call(&other, &b)->request, 8);
}

/* Any thread may send what waits in a client's list. */
static void client_with_a_list(void **state)
{
	struct actor a = actor(TID, 0), other = actor(OTHER, 0);
	struct socket first = {}, second = {}, client = {.flags = SOCKET_LIST};

	(void)state;
	take(&first, 7, &a);
	assert_int_equal(call(&client, &a)->request, 7);
	engine_answer(&client, &a, actor_thread(&a));
	take(&second, 8, &other);
	assert_int_equal(call(&client, &a)->veto, VETO_IDLE_PROCESS);
	engine_answer(&client, &a, actor_thread(&a));
	client.flags = 0;
	assert_int_equal(call(&client, &a)->request, 7);
	engine_answer(&client, &a, actor_thread(&a));
	end(8);
	client.flags = SOCKET_LIST;
	assert_int_equal(call(&client, &a)->request, 7);
}

#define CHILD_TGID (TGID + 100)

/* A process that is made for a request which this thread has. */
static struct actor child_of(const struct actor *a, __u32 tgid)
{
	struct actor made = actor(tgid, 0);

	made.key.tgid = tgid;
	engine_hand_over(a, &made.key, EVIDENCE_FORK);
	return made;
}

/* It may be one of a pool, which works for any request, until others have ended with theirs. */
static void children_of_one_of_two_requests(void **state)
{
	struct actor a = actor(TID, 0), other = actor(TID + 2, 0), child;
	struct socket first = {}, second = {}, client = {}, last = {};

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &other);
	child = child_of(&a, CHILD_TGID);
	assert_int_equal(call(&client, &child)->veto, VETO_IDLE_PROCESS);
	engine_answer(&client, &child, actor_thread(&child));
	for (__u32 i = 1; i <= habit_rules[HABIT_CHILDREN_END].least; i++) {
		struct actor over = child_of(&a, CHILD_TGID + i);

		engine_exec(&over.key, &over.key);
		assert_int_equal(process()->habit[HABIT_CHILDREN_END].kept, i - 1);
		engine_exit(&over.key);
		assert_int_equal(process()->habit[HABIT_CHILDREN_END].kept, i);
	}
	assert_int_equal(call(&client, &child)->request, 7);
	engine_answer(&client, &child, actor_thread(&child));
	end(7);
	assert_int_equal(call(&client, &child)->request, 0);
	assert_int_equal(process()->habit[HABIT_CHILDREN_END].broken, 1);
	assert_int_equal(process()->habit[HABIT_THREADS_END].broken, 0);
	child = child_of(&other, CHILD_TGID + habit_rules[HABIT_CHILDREN_END].least + 1);
	assert_int_equal(call(&last, &child)->request, 8);
}

static void child_of_the_only_request(void **state)
{
	struct actor a = actor(TID, 0), child;
	struct socket server = {}, client = {};

	(void)state;
	take(&server, 7, &a);
	child = child_of(&a, CHILD_TGID);
	engine_exec(&child.key, &child.key);
	engine_connect(&client, &child, NULL);
	assert_int_equal(call(&client, &child)->request, 7);
	assert_int_equal(call(&client, &child)->evidence, EVIDENCE_FORK);
}

static void woken_worker(void **state)
{
	struct actor reader = actor(TID, 1), worker = actor(OTHER, 0);
	struct socket server = {}, client = {};
	const struct call *c;

	(void)state;
	take(&server, 7, &reader);
	engine_hand_over(&reader, &worker.key, EVIDENCE_WAKE);
	c = call(&client, &worker);
	assert_int_equal(c->request, 7);
	assert_int_equal(c->evidence, EVIDENCE_WAKE);
}

static void woken_worker_with_a_rival(void **state)
{
	struct actor reader = actor(TID, 1), worker = actor(OTHER, 0);
	struct socket first = {}, second = {}, client = {};

	(void)state;
	take(&first, 7, &reader);
	engine_hand_over(&reader, &worker.key, EVIDENCE_WAKE);
	take(&second, 8, &reader);
	assert_int_equal(call(&client, &worker)->veto, VETO_IDLE_PROCESS);
}

/* A request that waits may have more parts: who was woken for another one may have taken those. */
static void woken_worker_while_another_waits(void **state)
{
	struct actor one = actor(TID, 0), two = actor(THIRD, 0), worker = actor(OTHER, 0);
	struct socket first = {}, second = {}, waits = {}, client = {};

	(void)state;
	take(&first, 7, &one);
	take(&second, 8, &two);
	assert_int_equal(call(&waits, &two)->request, 8);
	engine_hand_over(&one, &worker.key, EVIDENCE_WAKE);
	assert_int_equal(call(&client, &worker)->veto, VETO_IDLE_PROCESS);
}

/* The same where it connects for a part. */
static void woken_worker_while_another_connects(void **state)
{
	struct actor one = actor(TID, 0), two = actor(THIRD, 0), worker = actor(OTHER, 0);
	struct socket first = {}, second = {}, new = {}, client = {};

	(void)state;
	take(&first, 7, &one);
	take(&second, 8, &two);
	engine_connect(&new, &two, NULL);
	engine_hand_over(&one, &worker.key, EVIDENCE_WAKE);
	assert_int_equal(call(&client, &worker)->veto, VETO_IDLE_PROCESS);
}

static void closed_before_the_answer(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket server = {}, client = {}, never = {};

	(void)state;
	take(&server, 7, &a);
	engine_connect(&client, &a, NULL);
	call(&client, &a);
	engine_connect(&never, &a, NULL);
	assert_int_equal(process()->tally.in[STANDING_WAITING], 1);
	engine_close(&client);
	assert_int_equal(process()->tally.in[STANDING_CONNECTING], 1);
	engine_close(&never);
	assert_int_equal(process()->tally.in[STANDING_ANSWERED], 1);
}

/* What was left is read, and what that ends is over. */
static void peer_take(struct socket *s, __u64 parent, __u64 id, const struct actor *by)
{
	for (__u32 i = 0; i < PEER_OVER; i++) {
		const __u64 over = engine_peer_over(s, parent, by, i);

		if (over)
			end(over);
	}
	engine_peer_take(s, parent, id, by, 2);
	s->own.first++;
}

/* Two processes and a unix socket between them: what one asks, the other works on. */
static void request_goes_on_in_another_process(void **state)
{
	struct actor front = actor(TID, 1), back = actor(OTHER, 0);
	struct socket server = {}, accepted = {}, connected = {}, client = {};
	const struct call *c;

	(void)state;
	back.key.tgid = TGID + 1;
	take(&server, 7, &front);
	engine_peer_send(&accepted, &front);
	assert_true(peer_is_pending(&accepted));
	assert_int_equal(process()->tally.in[STANDING_WAITING], 1);
	peer_take(&accepted, 7, 70, &back);
	engine_connect(&client, &back, NULL);
	c = call(&client, &back);
	assert_int_equal(c->request, 70);
	assert_memory_equal(c->cause.trace_id, request_lookup(7)->context.trace_id, 16);
	engine_answer(&client, &back, actor_thread(&back));
	engine_peer_respond(&connected, &back);
	engine_answer(&connected, &front, actor_thread(&front));
	assert_int_equal(process()->tally.in[STANDING_ANSWERED], 1);
	assert_int_equal(engine_end(7), 70);
	engine_end(70);
	assert_int_equal(store_traces_count(), 0);
}

/* What follows in another turn of the sender belongs to what it sent first. */
static void peer_that_is_busy(void **state)
{
	struct actor front = actor(TID, 1);
	struct socket first = {}, second = {}, accepted = {};

	(void)state;
	take(&first, 7, &front);
	engine_peer_send(&accepted, &front);
	store_turn++;
	front = actor(TID, 1);
	take(&second, 8, &front);
	engine_peer_send(&accepted, &front);
	assert_int_equal(accepted.own.end, 1);
	assert_int_equal(accepted.own.arrival[0].request, 7);
}

static void peer_that_is_not_believed(void **state)
{
	struct actor front = actor(TID, 1);
	struct socket first = {}, second = {}, accepted = {};

	(void)state;
	take(&first, 7, &front);
	take(&second, 8, &front);
	engine_peer_send(&accepted, &front);
	assert_int_equal(accepted.own.arrival[0].request, 0);
	accepted.own.first++;
	end(7);
	engine_read(&second, &front, actor_thread(&front));
	engine_peer_send(&accepted, &front);
	assert_int_equal(accepted.own.end, 1);
}

/* A thread that was asked for one request, and then for one that is not known, is at that. */
static void peer_that_goes_on_to_the_unknown(void **state)
{
	struct actor front = actor(TID, 1), back = actor(OTHER, 0);
	struct socket server = {}, accepted = {}, connected = {}, next = {}, client = {};

	(void)state;
	back.key.tgid = TGID + 1;
	take(&server, 7, &front);
	engine_peer_send(&accepted, &front);
	peer_take(&accepted, 7, 70, &back);
	engine_peer_respond(&connected, &back);
	peer_take(&next, 0, 71, &back);
	engine_connect(&client, &back, NULL);
	assert_int_equal(call(&client, &back)->request, 0);
	end(7);
	assert_int_equal(store_traces_count(), 0);
}

/* Nobody is left behind at the request of who has asked somebody else since. */
static void peer_that_is_asked_after_another_one(void **state)
{
	struct actor front = actor(TID, 0), back = actor(OTHER, 0), other = actor(THIRD, 0);
	struct socket server = {}, accepted[2] = {}, client = {};

	(void)state;
	back.key.tgid = other.key.tgid = TGID + 1;
	take(&server, 7, &front);
	engine_peer_send(&accepted[0], &front);
	peer_take(&accepted[0], 7, 70, &back);
	engine_peer_send(&accepted[1], &front);
	peer_take(&accepted[1], 7, 71, &other);
	assert_int_equal(engine_end(7), 71);
	end(71);
	engine_connect(&client, &back, NULL);
	assert_int_equal(call(&client, &back)->request, 0);
}

/* A loop whose first requests were read before it was known: what it sends may be for these. */
static void loop_that_has_read_before(void **state)
{
	struct actor a = actor(TID, 1), early = actor(TID, 1);
	struct socket first = {}, second = {}, accepted = {}, third = {}, later = {};

	(void)state;
	early.kind = ACTOR_UNKNOWN;
	store_request(7);
	engine_take(7, &early, 1);
	take(&second, 8, &a);
	engine_peer_send(&accepted, &a);
	assert_int_equal(accepted.own.arrival[0].request, 0);
	engine_connect(&first, &a, NULL);
	assert_int_equal(call(&first, &a)->request, 0);
	end(7);
	end(8);
	store_turn++;
	a = actor(TID, 1);
	take(&third, 9, &a);
	engine_peer_send(&later, &a);
	assert_int_equal(later.own.arrival[0].request, 9);
}

/* A request whose answer comes in pieces is no rival where no call was ever late. */
static void answer_in_pieces(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {.calls_end = 1}, other = {.calls_end = 1};
	__u32 tgid = TGID;

	(void)state;
	take(&first, 7, &a);
	has_shown(process_lookup(&tgid), HABIT_PROMPT);
	call(&client, &a);
	engine_answer(&client, &a, actor_thread(&a));
	store_turn++;
	a = actor(TID, 1);
	take(&second, 8, &a);
	assert_int_equal(call(&other, &a)->request, 8);
	engine_answer(&other, &a, actor_thread(&a));
	process_lookup(&tgid)->habit[HABIT_PROMPT].broken = 1;
	engine_read(&second, &a, actor_thread(&a));
	assert_int_equal(call(&other, &a)->veto, VETO_IDLE_LOOP);
}

/* Calls of a program without requests are all alike, until a program takes its first one. */
static void calls_of_nobody(void **state)
{
	struct record_thread same = {TGID, TID}, other = {TGID, OTHER};
	struct actor a = actor(TID, 0), server = actor(OTHER, 0);
	struct socket client = {}, served = {};

	(void)state;
	a.kind = ACTOR_UNKNOWN;
	engine_connect(&client, &a, NULL);
	assert_false(socket_is_client_only(&client, &same, store_newcomers));
	for (int i = 0; i < 2; i++) {
		engine_call(&client, &a, i, 80);
		engine_answer(&client, &a, NULL);
	}
	assert_false(socket_is_client_only(&client, &same, store_newcomers));
	socket_becomes_client_only(&client, &a, store_newcomers);
	assert_true(socket_is_client_only(&client, &same, store_newcomers));
	assert_false(socket_is_client_only(&client, &other, store_newcomers));
	engine_call_again(&client, 4711);
	assert_int_equal(client.calls_end, 3);
	assert_int_equal(socket_last_call(&client)->seq, 4711);
	assert_int_equal(socket_last_call(&client)->tgid, TGID);
	assert_int_equal(socket_last_call(&client)->evidence, EVIDENCE_NONE);
	assert_false(socket_is_quiet(&client));
	engine_answer_client_only(&client);
	assert_true(socket_is_quiet(&client));
	take(&served, 7, &server);
	assert_false(socket_is_client_only(&client, &same, store_newcomers));
	end(7);
	take(&served, 8, &server);
	assert_int_equal(store_newcomers, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(thread_with_one_request),
	    CASE(call_after_the_end),
	    CASE(traces_follow_the_worker),
	    CASE(traces_end_with_the_thread),
	    CASE(thread_of_the_only_request),
	    CASE(thread_of_one_of_two_requests),
	    CASE(thread_that_was_given_nothing),
	    CASE(goroutines_of_two_requests),
	    CASE(client_with_a_list),
	    CASE(children_of_one_of_two_requests),
	    CASE(child_of_the_only_request),
	    CASE(woken_worker),
	    CASE(woken_worker_with_a_rival),
	    CASE(woken_worker_while_another_waits),
	    CASE(woken_worker_while_another_connects),
	    CASE(closed_before_the_answer),
	    CASE(request_goes_on_in_another_process),
	    CASE(peer_that_is_busy),
	    CASE(peer_that_is_not_believed),
	    CASE(peer_that_goes_on_to_the_unknown),
	    CASE(peer_that_is_asked_after_another_one),
	    CASE(loop_that_has_read_before),
	    CASE(answer_in_pieces),
	    CASE(calls_of_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
