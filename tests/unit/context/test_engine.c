// SPDX-License-Identifier: Apache-2.0
/* Single steps of the engine: what each event does to tallies, evidence and traces_ctx_v1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store.h"
#include "context/peer.h"

enum { TGID = 100, TID = 101, OTHER = 102, THIRD = 103 };

static struct actor actor(__u32 tid, int loop)
{
	return (struct actor){.key = {.tgid = TGID, .tid = tid},
			      .kind = ACTOR_THREAD,
			      .path = 1,
			      .loop = loop ? ACTOR_LOOP : ACTOR_BLOCKS,
			      .turn = {.switches = store_turn}};
}

/* A request arrives and is read by a thread. */
static void take(struct socket *s, __u64 id, const struct actor *by)
{
	store_request(id);
	s->flags = SOCKET_SERVER;
	s->serving = id;
	engine_take(id, by, 1);
	engine_read(s, by, actor_thread(by));
}

static void end(__u64 id)
{
	engine_end(id);
	request_delete(id);
}

/* The call that begins now on a connection. */
static const struct call *call(struct socket *s, const struct actor *by)
{
	engine_call(s, by, s->calls_end * 1000, 80);
	return socket_last_call(s);
}

static const struct process *process(void)
{
	__u32 tgid = TGID;

	return process_lookup(&tgid);
}

static int begin(void **state)
{
	(void)state;
	store_clear();
	return 0;
}

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
	process_make(&a.key.tgid)->threads_ended = PROCESS_ENDED;
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
	assert_false(process()->loops_share);
	engine_answer(&one, &b, actor_thread(&b));
	assert_true(process()->loops_share);
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
	process_make(&tgid)->loops_share = 1;
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
	process_make(&tgid)->pools = ~0ULL;
	w = worker_make(&a.key);
	w->tally.unattributed = 1;
	w->counted = w->taken;
	store_turn++;
	a = actor(TID, 1);
	take(&second, 8, &a);
	assert_int_equal(call(&client, &a)->veto, VETO_IDLE_LOOP);
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
	assert_int_equal(engine_peer_take(&accepted, 7, 70, &back, 2), 0);
	accepted.own.first++;
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

/* A request whose answer comes in pieces is no rival where no call was ever late. */
static void answer_in_pieces(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {.calls_end = 1}, other = {.calls_end = 1};
	__u32 tgid = TGID;

	(void)state;
	take(&first, 7, &a);
	process_lookup(&tgid)->prompt = PROCESS_PROMPT;
	call(&client, &a);
	engine_answer(&client, &a, actor_thread(&a));
	store_turn++;
	a = actor(TID, 1);
	take(&second, 8, &a);
	assert_int_equal(call(&other, &a)->request, 8);
	engine_answer(&other, &a, actor_thread(&a));
	process_lookup(&tgid)->late = 1;
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
	a.kind = ACTOR_NOBODY;
	engine_connect(&client, &a, NULL);
	assert_false(socket_is_nobodys(&client, &same, store_newcomers));
	for (int i = 0; i < 2; i++) {
		engine_call(&client, &a, i, 80);
		engine_answer(&client, &a, NULL);
	}
	assert_false(socket_is_nobodys(&client, &same, store_newcomers));
	socket_is_nobodys_now(&client, &a, store_newcomers);
	assert_true(socket_is_nobodys(&client, &same, store_newcomers));
	assert_false(socket_is_nobodys(&client, &other, store_newcomers));
	engine_call_again(&client, 4711);
	assert_int_equal(client.calls_end, 3);
	assert_int_equal(socket_last_call(&client)->seq, 4711);
	assert_int_equal(socket_last_call(&client)->tgid, TGID);
	assert_int_equal(socket_last_call(&client)->evidence, EVIDENCE_NONE);
	assert_false(socket_is_quiet(&client));
	engine_answer_nobody(&client);
	assert_true(socket_is_quiet(&client));
	take(&served, 7, &server);
	assert_false(socket_is_nobodys(&client, &same, store_newcomers));
	end(7);
	take(&served, 8, &server);
	assert_int_equal(store_newcomers, 1);
}

#define CASE(f) cmocka_unit_test_setup(f, begin)

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
	    CASE(loop_with_a_rival),
	    CASE(loop_with_a_newer_rival),
	    CASE(loop_in_another_turn),
	    CASE(loop_in_its_timers),
	    CASE(loop_whose_timers_become_known),
	    CASE(loop_that_goes_on_later),
	    CASE(loops_that_share),
	    CASE(woken_loop_that_shares),
	    CASE(connect_that_was_asked_for),
	    CASE(connect_in_another_turn),
	    CASE(connect_that_a_newer_request_may_use),
	    CASE(woken_worker),
	    CASE(woken_worker_with_a_rival),
	    CASE(woken_worker_while_another_waits),
	    CASE(closed_before_the_answer),
	    CASE(request_goes_on_in_another_process),
	    CASE(peer_that_is_busy),
	    CASE(peer_that_is_not_believed),
	    CASE(answer_in_pieces),
	    CASE(calls_of_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
