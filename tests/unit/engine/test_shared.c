// SPDX-License-Identifier: Apache-2.0
/* Connections of a loop on which several requests wait for answers at once. */
#include "steps.h"

/* Two requests have been read, and have asked for something on one connection. */
struct both {
	struct actor by;
	struct socket first, second, store;
};

static struct actor next_turn(void)
{
	store_turn++;
	return actor(TID, 1);
}

/* Bytes are sent on a client socket, as the probes tell it. */
static void asks(struct socket *s, const struct actor *by)
{
	if (!socket_is_quiet(s))
		engine_send_more(s, actor_worker(by));
	if (socket_is_quiet(s))
		call(s, by);
}

static void answers(struct socket *s, const struct actor *by)
{
	if (s->flags & SOCKET_SHARED)
		engine_answer_shared(s, by, actor_thread(by));
	else
		engine_answer(s, by, actor_thread(by));
}

static struct both both_ask(__u32 flags)
{
	struct both b = {.by = next_turn(),
			 .store = {.flags = SOCKET_CLIENT | flags, .calls_end = 1}};

	take(&b.first, 7, &b.by);
	asks(&b.store, &b.by);
	assert_int_equal(b.store.flags & SOCKET_SHARED, flags & SOCKET_SHARED);
	b.by = next_turn();
	take(&b.second, 8, &b.by);
	asks(&b.store, &b.by);
	return b;
}

static __u32 waiting(void)
{
	return process()->tally.in[STANDING_WAITING];
}

/* Either answer may have come, so nobody's is what is called for then. */
static void two_requests(void **state)
{
	struct socket client = {.calls_end = 1};
	struct both b = both_ask(SOCKET_SHARED | SOCKET_ASKS);

	(void)state;
	assert_true(b.store.flags & SOCKET_SHARED);
	assert_int_equal(waiting(), 2);
	for (int i = 0; i < 2; i++) {
		b.by = next_turn();
		answers(&b.store, &b.by);
		assert_int_equal(waiting(), 0);
		assert_int_equal(store_traces_count(), 0);
		assert_int_equal(call(&client, &b.by)->request, 0);
		engine_answer(&client, &b.by, actor_thread(&b.by));
	}
	end(7);
	end(8);
}

/* Of a protocol that is not known: who sends behind another one's call may have asked, or not. */
static void two_requests_of_some_protocol(void **state)
{
	struct socket client = {.calls_end = 1};
	struct both b = both_ask(0);

	(void)state;
	assert_true(b.store.flags & SOCKET_SHARED);
	assert_false(socket_is_quiet(&b.store));
	assert_int_equal(waiting(), 1);
	b.by = next_turn();
	answers(&b.store, &b.by);
	assert_int_equal(waiting(), 0);
	assert_int_equal(call(&client, &b.by)->request, 0);
	end(7);
	end(8);
}

/* The rest of a call is sent in one go with it, whatever was read last before. */
static void one_call_in_two_pieces(void **state)
{
	struct actor by = actor(TID, 1);
	struct socket first = {}, second = {}, client = {};

	(void)state;
	take(&first, 7, &by);
	engine_connect(&client, &by, NULL);
	by = next_turn();
	take(&second, 8, &by);
	by = next_turn();
	asks(&client, &by);
	assert_int_equal(socket_last_call(&client)->request, 7);
	asks(&client, &by);
	assert_false(client.flags & SOCKET_SHARED);
}

/* The only request there is gets the answer. */
static void one_at_a_time(void **state)
{
	struct socket client = {.calls_end = 1};
	struct both b = both_ask(SOCKET_SHARED | SOCKET_ASKS);

	(void)state;
	end(7);
	end(8);
	b.by = next_turn();
	answers(&b.store, &b.by);
	b.by = next_turn();
	take(&b.first, 9, &b.by);
	asks(&b.store, &b.by);
	b.by = next_turn();
	answers(&b.store, &b.by);
	assert_null(store_traces(TGID, TID));
	assert_int_equal(call(&client, &b.by)->request, 9);
	end(9);
}

/* One that was read before, and is idle, may have asked before its answer was counted. */
static void one_beside_an_idle_one(void **state)
{
	struct socket client = {.calls_end = 1};
	struct both b = both_ask(SOCKET_SHARED | SOCKET_ASKS);

	(void)state;
	b.by = next_turn();
	answers(&b.store, &b.by);
	end(7);
	b.by = next_turn();
	take(&b.first, 9, &b.by);
	asks(&b.store, &b.by);
	b.by = next_turn();
	answers(&b.store, &b.by);
	assert_int_equal(call(&client, &b.by)->request, 0);
	end(8);
	end(9);
}

/* The rest of a body is sent when the loop has read something else. */
static void body_of_http(void **state)
{
	struct actor by = actor(TID, 1);
	struct socket first = {}, second = {}, client = {.flags = SOCKET_CLIENT, .calls_end = 1};

	(void)state;
	take(&first, 7, &by);
	asks(&client, &by);
	socket_last_call(&client)->is_http = 1;
	by = next_turn();
	take(&second, 8, &by);
	asks(&client, &by);
	assert_false(client.flags & SOCKET_SHARED);
	assert_int_equal(client.calls_end, 2);
}

/* More of them wait than there is room for. */
static void many_requests(void **state)
{
	struct socket server[2 * SOCKET_CALLS] = {},
				 store = {.flags = SOCKET_CLIENT | SOCKET_SHARED | SOCKET_ASKS};
	struct actor by;

	(void)state;
	for (__u32 i = 0; i < 2 * SOCKET_CALLS; i++) {
		by = next_turn();
		take(&server[i], 10 + i, &by);
		asks(&store, &by);
	}
	assert_int_equal(store.calls_end, SOCKET_CALLS);
	by = next_turn();
	answers(&store, &by);
	assert_true(socket_is_quiet(&store));
	assert_int_equal(waiting(), 0);
}

/* A request that has ended waits for nothing; nobody is believed then beside others. */
static void one_that_does_not_wait(void **state)
{
	struct both b = both_ask(SOCKET_SHARED | SOCKET_ASKS);

	(void)state;
	end(7);
	b.by = next_turn();
	answers(&b.store, &b.by);
	assert_true(b.store.flags & SOCKET_DROPS);
	end(8);
}

/*
 * 9 waits for its turn to call `near` when the answer to 8 makes room there, but at the end of the
 * turn, when 10 was read. The one call that is not known whose it is was 7's, which has an answer,
 * and does not stand for 9.
 */
static void an_unattributed_call_of_one_with_an_answer(void **state)
{
	struct actor a = next_turn();
	struct process *p = process_make(&a.key.tgid);
	struct socket server[4] = {}, near = {.calls_end = 1}, far = {.calls_end = 1},
		      store = {.flags = SOCKET_CLIENT | SOCKET_SHARED | SOCKET_ASKS,
			       .calls_end = 1};

	(void)state;
	has_shown(p, HABIT_PROMPT);
	has_shown(p, HABIT_DIRECT);
	take(&server[0], 7, &a);
	assert_int_equal(call(&far, &a)->request, 7);
	a = next_turn();
	take(&server[1], 8, &a);
	assert_int_equal(call(&near, &a)->request, 8);
	a = next_turn();
	take(&server[2], 9, &a);
	asks(&store, &a);
	a = next_turn();
	answers(&store, &a);
	a = next_turn();
	engine_answer(&far, &a, actor_thread(&a));
	assert_int_equal(call(&far, &a)->veto, VETO_IDLE_LOOP);
	assert_int_equal(process()->tally.unattributed, 1);
	a = next_turn();
	engine_answer(&near, &a, actor_thread(&a));
	take(&server[3], 10, &a);
	assert_int_equal(call(&near, &a)->evidence, EVIDENCE_NONE);
	assert_int_equal(socket_last_call(&near)->veto, VETO_IDLE_LOOP);
	for (__u64 id = 7; id <= 10; id++)
		end(id);
}

static void closed(void **state)
{
	struct both b = both_ask(SOCKET_SHARED | SOCKET_ASKS);

	(void)state;
	engine_close(&b.store);
	assert_int_equal(waiting(), 0);
	end(7);
	end(8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(two_requests),
	    CASE(two_requests_of_some_protocol),
	    CASE(one_call_in_two_pieces),
	    CASE(one_at_a_time),
	    CASE(one_beside_an_idle_one),
	    CASE(body_of_http),
	    CASE(many_requests),
	    CASE(one_that_does_not_wait),
	    CASE(closed),
	    CASE(an_unattributed_call_of_one_with_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
