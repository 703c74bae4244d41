// SPDX-License-Identifier: Apache-2.0
/* Calls whose heads name their cause: x-request-id beside what the engine has decided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store.h"
#include "engine/engine.h"
#include "engine/named.h"
#include "../request_id_of.h"

enum {
	TGID = 100,
	TID = 101,
	WORKER = 102,
	NUMBER = 0xabc,
	OTHER_NUMBER = 0xdef,
	SHOWN_NUMBER = 0x1000
};

static const struct actor reader = {.key = {.tgid = TGID, .tid = TID}, .path = 1};
static const struct actor worker = {.key = {.tgid = TGID, .tid = WORKER}, .path = 1};

/* A request with an x-request-id arrives and is read by the process. */
static void take(struct socket *s, __u64 id, __u64 number)
{
	store_request(id)->request_id = number;
	s->flags = SOCKET_SERVER;
	s->serving = id;
	engine_take(id, &reader, 1);
	engine_read(s, &reader, actor_thread(&reader));
}

static void end(__u64 id)
{
	engine_end(id);
	request_delete(id);
}

/* A call of another thread than the reader, whose head has this number. */
static const struct call *call(struct socket *s, const struct actor *by, __u64 number)
{
	engine_call(s, by, 1000, 80);
	engine_named(socket_last_call(s), number);
	return socket_last_call(s);
}

/* The process gives calls, of which the thread tells the request, the ids of their requests. */
static void copies(int times)
{
	for (int i = 0; i < times; i++) {
		struct socket server = {}, client = {};

		take(&server, 20, SHOWN_NUMBER + i);
		assert_int_equal(call(&client, &reader, SHOWN_NUMBER + i)->request, 20);
		engine_answer(&client, &reader, actor_thread(&reader));
		end(20);
	}
}

static const struct tally *tally(void)
{
	__u32 tgid = TGID;

	return &process_lookup(&tgid)->tally;
}

static int begin(void **state)
{
	(void)state;
	store_clear();
	return 0;
}

static void one_of_several(void **state)
{
	struct socket first = {}, second = {}, client = {};
	const struct call *c;

	(void)state;
	copies(habit_rules[HABIT_COPIES_IDS].least);
	take(&first, 7, NUMBER);
	take(&second, 8, OTHER_NUMBER);
	c = call(&client, &worker, OTHER_NUMBER);
	assert_int_equal(c->request, 8);
	assert_int_equal(c->evidence, EVIDENCE_REQUEST_ID);
	assert_int_equal(c->veto, VETO_NONE);
	assert_memory_equal(c->cause.span_id, request_lookup(8)->context.span_id, 8);
	assert_int_equal(tally()->in[STANDING_IDLE], 1);
	assert_int_equal(tally()->in[STANDING_WAITING], 1);
	assert_int_equal(tally()->unattributed, 0);
	engine_answer(&client, &worker, actor_thread(&worker));
	assert_int_equal(tally()->in[STANDING_ANSWERED], 1);
	end(7);
	end(8);
	assert_int_equal(store_ids_count(), 0);
}

/* What the loop was believed to wait for is known now. */
static void an_unattributed_call(void **state)
{
	struct actor loop = reader;
	struct socket first = {}, second = {}, client = {.calls_end = 1};

	(void)state;
	copies(habit_rules[HABIT_COPIES_IDS].least);
	loop.loop = ACTOR_LOOP;
	take(&first, 7, NUMBER);
	take(&second, 8, OTHER_NUMBER);
	engine_call(&client, &loop, 1000, 80);
	assert_int_equal(tally()->unattributed, 1);
	engine_named(socket_last_call(&client), NUMBER);
	assert_int_equal(socket_last_call(&client)->request, 7);
	assert_int_equal(tally()->unattributed, 0);
	engine_answer(&client, &loop, actor_thread(&loop));
	assert_int_equal(tally()->unattributed, 0);
}

static void equal_ids_tell_nothing(void **state)
{
	struct socket first = {}, second = {}, client = {}, later = {};

	(void)state;
	copies(habit_rules[HABIT_COPIES_IDS].least);
	take(&first, 7, NUMBER);
	take(&second, 8, NUMBER);
	assert_int_equal(call(&client, &worker, NUMBER)->request, 0);
	engine_answer(&client, &worker, actor_thread(&worker));
	end(7);
	assert_int_equal(call(&later, &worker, NUMBER)->request, 8);
	end(8);
	assert_int_equal(store_ids_count(), 0);
}

static void ids_that_are_not_known_tell_nothing(void **state)
{
	struct socket server = {}, client = {}, own = {};
	struct actor stranger = worker;

	(void)state;
	take(&server, 7, NUMBER);
	stranger.key.tgid = TGID + 1;
	assert_int_equal(call(&client, &stranger, NUMBER)->request, 0);
	assert_int_equal(call(&own, &reader, OTHER_NUMBER)->request, 7);
	assert_int_equal(socket_last_call(&own)->evidence, EVIDENCE_THREAD);
}

/* A call of which nothing else is known, while one of two requests has its id. */
static __u64 named_by(__u64 number)
{
	struct socket first = {}, second = {}, client = {};
	__u64 named;

	take(&first, 7, NUMBER);
	take(&second, 8, OTHER_NUMBER);
	named = call(&client, &worker, number)->request;
	engine_answer(&client, &worker, actor_thread(&worker));
	end(7);
	end(8);
	return named;
}

static void not_before_it_was_seen_to_copy(void **state)
{
	(void)state;
	copies(habit_rules[HABIT_COPIES_IDS].least - 1);
	assert_int_equal(named_by(OTHER_NUMBER), 0);
	copies(1);
	assert_int_equal(named_by(OTHER_NUMBER), 8);
}

/* Calls that ids alone would name show nothing: whoever guesses an id may have brought it. */
static void guesses_are_no_proof(void **state)
{
	(void)state;
	for (__u32 i = 0; i < 4 * habit_rules[HABIT_COPIES_IDS].least; i++)
		assert_int_equal(named_by(OTHER_NUMBER), 0);
}

static void ids_of_its_own(void **state)
{
	(void)state;
	copies(habit_rules[HABIT_COPIES_IDS].least);
	assert_int_equal(named_by(SHOWN_NUMBER - 1), 0);
	copies(4 * habit_rules[HABIT_COPIES_IDS].least);
	assert_int_equal(named_by(OTHER_NUMBER), 0);
}

/* Of a request that is over: it has copied, but late. */
static void ids_of_earlier_requests(void **state)
{
	(void)state;
	copies(habit_rules[HABIT_COPIES_IDS].least);
	assert_int_equal(named_by(SHOWN_NUMBER), 0);
	assert_int_equal(named_by(OTHER_NUMBER), 8);
}

static void ids_of_others_than_the_evidence_says(void **state)
{
	struct socket first = {}, second = {}, client = {};

	(void)state;
	copies(habit_rules[HABIT_COPIES_IDS].least);
	take(&first, 7, NUMBER);
	first.serving = 0;
	store_request(8)->request_id = OTHER_NUMBER;
	engine_take(8, &worker, 1);
	second.serving = 8;
	engine_read(&second, &worker, actor_thread(&worker));
	assert_int_equal(call(&client, &worker, NUMBER)->veto, VETO_DISAGREE);
	end(7);
	end(8);
	assert_int_equal(named_by(OTHER_NUMBER), 0);
}

/* The same id came from another address before: nobody can say whose it is. */
static void ids_that_others_have_claimed(void **state)
{
	struct socket server = {};

	(void)state;
	copies(habit_rules[HABIT_COPIES_IDS].least);
	store_request(6)->from = 1 << 8;
	take(&server, 6, OTHER_NUMBER);
	end(6);
	assert_int_equal(named_by(OTHER_NUMBER), 0);
	assert_int_equal(named_by(NUMBER), 7);
}

static void claims_of_one_address(void **state)
{
	__u64 claim = 0, hash = id_hash(TGID, NUMBER), other = hash ^ 1ULL << 63;

	(void)state;
	id_claim(&claim, hash, 5);
	id_claim(&claim, hash, 5);
	assert_true(id_claim_is_of(claim, hash) && !(claim & ID_CONTESTED));
	id_claim(&claim, hash, 8);
	id_claim(&claim, hash, 8);
	assert_true(id_claim_is_of(claim, hash) && (claim & ID_CONTESTED));
	id_claim(&claim, other, 8);
	assert_true(id_claim_is_of(claim, other) && !(claim & ID_CONTESTED));
	assert_false(id_claim_is_of(claim, hash));
}

static void agreement(void **state)
{
	struct socket first = {}, client = {};
	const struct call *c;

	(void)state;
	take(&first, 7, NUMBER);
	c = call(&client, &reader, NUMBER);
	assert_int_equal(c->request, 7);
	assert_int_equal(c->evidence, EVIDENCE_THREAD);
	assert_int_equal(tally()->in[STANDING_WAITING], 1);
}

static void disagreement(void **state)
{
	struct socket first = {}, second = {}, client = {};
	const struct call *c;

	(void)state;
	store_request(7)->request_id = NUMBER;
	engine_take(7, &worker, 1);
	first.serving = 7;
	engine_read(&first, &worker, actor_thread(&worker));
	take(&second, 8, OTHER_NUMBER);
	c = call(&client, &worker, OTHER_NUMBER);
	assert_int_equal(c->request, 0);
	assert_int_equal(c->evidence, EVIDENCE_NONE);
	assert_int_equal(c->veto, VETO_DISAGREE);
	assert_int_equal(c->cause.trace_id[0], 0);
	assert_int_equal(tally()->in[STANDING_WAITING], 0);
	assert_int_equal(tally()->in[STANDING_IDLE], 2);
}

/* Its response was sent while another CPU was about to take it up. */
static void over_before_it_is_taken(void **state)
{
	(void)state;
	store_request(7)->request_id = NUMBER;
	engine_end(7);
	engine_take(7, &reader, 1);
	assert_int_equal(store_ids_count(), 0);
}

/* A call that goes out with a traceparent of the program's own. */
static const struct call *own_call(struct socket *s, const struct actor *by, __u8 trace_byte)
{
	__u64 trace[2];

	memset(trace, trace_byte, sizeof(trace));
	engine_call(s, by, 1000, 80);
	engine_owned(socket_last_call(s), trace);
	return socket_last_call(s);
}

static void own_trace_is_the_same(void **state)
{
	struct socket server = {}, client = {};
	const struct call *c;

	(void)state;
	take(&server, 7, 0);
	c = own_call(&client, &reader, STORE_TRACE);
	assert_int_equal(c->request, 7);
	assert_int_equal(c->evidence, EVIDENCE_OWN);
	assert_int_equal(tally()->in[STANDING_WAITING], 1);
	engine_named(socket_last_call(&client), NUMBER);
	assert_int_equal(c->request, 7);
	engine_answer(&client, &reader, actor_thread(&reader));
	assert_int_equal(tally()->in[STANDING_ANSWERED], 1);
}

static void own_trace_is_another(void **state)
{
	struct socket server = {}, client = {};
	const struct call *c;

	(void)state;
	take(&server, 7, 0);
	c = own_call(&client, &reader, 0x77);
	assert_int_equal(c->request, 0);
	assert_int_equal(c->veto, VETO_DISAGREE);
	assert_int_equal(tally()->in[STANDING_IDLE], 1);
	assert_int_equal(store_traces(TGID, TID)->trace_id[0], STORE_TRACE);
}

/* Nothing came in with the request: its program knows better whose trace it is. */
static void own_trace_of_a_root(void **state)
{
	struct socket server = {}, client = {}, next = {}, other = {};
	const struct call *c;

	(void)state;
	take(&server, 7, 0);
	request_lookup(7)->flags = REQUEST_ROOT;
	c = own_call(&client, &reader, 0x77);
	assert_int_equal(c->evidence, EVIDENCE_OWN);
	assert_int_equal(store_traces(TGID, TID)->trace_id[15], 0x77);
	assert_memory_equal(store_traces(TGID, TID)->span_id, request_lookup(7)->context.span_id,
			    8);
	engine_answer(&client, &reader, actor_thread(&reader));
	c = call(&next, &reader, 0);
	assert_int_equal(c->cause.trace_id[0], 0x77);
	engine_answer(&next, &reader, actor_thread(&reader));
	assert_int_equal(own_call(&other, &reader, 0x66)->veto, VETO_DISAGREE);
	assert_int_equal(store_traces(TGID, TID)->trace_id[0], 0x77);
	end(7);
	assert_int_equal(store_traces_count(), 0);
	assert_int_equal(store_adopted_count(), 0);
}

/* Request 7 ends, and another one, without a trace as well, gets its place and its thread. */
static void place_is_used_again(void)
{
	struct request *r = request_lookup(7);
	__u64 id = 8;

	store_before_adoption = NULL;
	engine_end(7);
	memset((void *)r, 0, sizeof(*r));
	r->id = id;
	memcpy(r->context.span_id, &id, sizeof(id));
	memset(r->context.trace_id, 0x33, sizeof(r->context.trace_id));
	r->flags = REQUEST_ROOT;
	r->worker = reader.key;
	r->state = STATE_TAKEN;
	worker_publish(worker_lookup(&r->worker), &r->worker, id, r);
}

/* The program's own trace is that of a request whose place is another one's by now. */
static void own_trace_of_one_that_ends(void **state)
{
	struct socket server = {}, client = {};
	const struct request *other;
	const struct call *c;

	(void)state;
	take(&server, 7, 0);
	other = request_lookup(7);
	request_lookup(7)->flags = REQUEST_ROOT;
	store_before_adoption = place_is_used_again;
	c = own_call(&client, &reader, 0x77);
	assert_int_equal(c->evidence, EVIDENCE_NONE);
	assert_int_equal(c->veto, VETO_DISAGREE);
	assert_int_equal(c->cause.trace_id[0], 0);
	assert_int_equal(other->context.trace_id[0], 0x33);
	assert_int_equal(request_shown(other, 8)->trace_id[0], 0x33);
	assert_int_equal(store_traces(TGID, TID)->trace_id[0], 0x33);
	assert_int_equal(store_adopted_count(), 0);
}

static void numbers_of_values(void **state)
{
	struct request_id twice = {};
	char longest[REQUEST_ID_MAX + 2] = {};

	(void)state;
	assert_int_not_equal(request_id_of("4bf92f35"), 0);
	assert_int_equal(request_id_of("4bf92f35"), request_id_of("4bf92f35 \t"));
	assert_int_not_equal(request_id_of("4bf92f35"), request_id_of("4bf92f36"));
	assert_int_not_equal(request_id_of("4bf92f35"), request_id_of("4bf92f53"));
	assert_int_equal(request_id_of("4bf92f3"), 0);
	memset(longest, 'a', REQUEST_ID_MAX);
	assert_int_not_equal(request_id_of(longest), 0);
	longest[REQUEST_ID_MAX] = 'a';
	assert_int_equal(request_id_of(longest), 0);
	for (int i = 0; i < 2; i++) {
		request_id_begin(&twice);
		for (const char *c = "4bf92f35"; *c; c++)
			request_id_feed(&twice, *c);
	}
	assert_int_equal(request_id_number(&twice), 0);
}

#define CASE(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(one_of_several),
	    CASE(an_unattributed_call),
	    CASE(equal_ids_tell_nothing),
	    CASE(ids_that_are_not_known_tell_nothing),
	    CASE(not_before_it_was_seen_to_copy),
	    CASE(guesses_are_no_proof),
	    CASE(ids_of_its_own),
	    CASE(ids_of_earlier_requests),
	    CASE(ids_of_others_than_the_evidence_says),
	    CASE(ids_that_others_have_claimed),
	    CASE(claims_of_one_address),
	    CASE(agreement),
	    CASE(disagreement),
	    CASE(over_before_it_is_taken),
	    CASE(own_trace_is_the_same),
	    CASE(own_trace_is_another),
	    CASE(own_trace_of_a_root),
	    CASE(own_trace_of_one_that_ends),
	    CASE(numbers_of_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
