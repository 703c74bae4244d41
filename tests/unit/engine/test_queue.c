// SPDX-License-Identifier: Apache-2.0
/* What goes from thread to thread through queues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store.h"
#include "engine/engine.h"
#include "engine/queue.h"

enum { TGID = 100, READER = 101, WORKER = 102, OTHER_READER = 103 };
enum { QUEUE = 0x1000, OTHER_QUEUE = 0x2000, ITEM = 0x10 };

static struct actor actor(__u32 tid)
{
	return (struct actor){.key = {.tgid = TGID, .tid = tid},
			      .kind = ACTOR_THREAD,
			      .path = 1,
			      .turn = {.switches = store_turn}};
}

/* Reads from sockets that it watches by epoll, though they block. */
static struct actor loop(void)
{
	struct actor a = actor(READER);

	a.turn.item = 1;
	return a;
}

static void take(__u64 id, const struct actor *by)
{
	struct socket s = {.flags = SOCKET_SERVER, .serving = id};

	store_request(id);
	engine_take(id, by, 1);
	engine_read(&s, by, actor_thread(by));
}

static struct worker *worker(__u32 tid)
{
	struct worker_key key = {.tgid = TGID, .tid = tid};

	return worker_make(&key);
}

static __u64 put_into(__u64 queue, __u32 tid)
{
	__u32 tgid = TGID;

	return queue_put(worker(tid), process_lookup(&tgid), queue);
}

static __u64 put(__u32 tid)
{
	return put_into(QUEUE, tid);
}

/* The worker takes something out of a queue. */
static void got(__u64 queue, __u64 item, __u64 request)
{
	struct worker_key key = {.tgid = TGID, .tid = WORKER};

	queue_got(worker(WORKER), &key, queue, item, request);
}

static void asked(__u64 queue)
{
	struct worker_key key = {.tgid = TGID, .tid = WORKER};

	queue_asked(worker(WORKER), &key, queue);
}

/* The request that profilers see the worker at; 0: none. */
static __u64 shown(void)
{
	const struct traces_ctx *traces = store_traces(TGID, WORKER);

	return traces ? traces_ctx_span(traces) : 0;
}

/* The request of a call that a thread makes; 0: unknown. */
static __u64 call(__u32 tid)
{
	struct actor a = actor(tid);
	struct socket client = {};

	engine_call(&client, &a, 1, 80);
	if (client.call[0].request)
		assert_int_equal(client.call[0].evidence, EVIDENCE_TASK);
	return client.call[0].request;
}

static int begin(void **state)
{
	(void)state;
	store_clear();
	return 0;
}

static void worker_of_a_thread(void **state)
{
	struct actor a = actor(READER);

	(void)state;
	take(7, &a);
	assert_int_equal(put(READER), 7);
	got(QUEUE, ITEM, 7);
	take(8, &a);                      /* a rival means nothing */
	assert_int_equal(put(WORKER), 7); /* and on to the next thread */
	assert_int_equal(call(WORKER), 7);
	assert_int_equal(call(WORKER), 7);
	got(QUEUE, ITEM, 0);
	assert_int_equal(call(WORKER), 0);
}

static void next_one_when_one_is_done(void **state)
{
	struct actor a = actor(READER);

	(void)state;
	take(7, &a);
	got(QUEUE, ITEM, 7);
	assert_int_equal(call(WORKER), 7);
	assert_int_equal(put(WORKER), 7);
	take(8, &a); /* that has waited, maybe */
	assert_int_equal(put(WORKER), 0);
	got(QUEUE, ITEM, 7);
	assert_int_equal(put(WORKER), 7);
}

/*
 * A worker that has called, and wakes who waits for what it took out, may go on with what others
 * have put into a list, as long as there are any, until it takes out the next.
 */
static void who_waits_is_woken(void **state)
{
	struct actor a = actor(READER), b = actor(OTHER_READER), by = actor(WORKER);

	(void)state;
	take(7, &a);
	take(8, &b);
	got(QUEUE, ITEM, 7);
	engine_hand_over(&by, &a.key, EVIDENCE_WAKE); /* it is there, that is all */
	assert_int_equal(call(WORKER), 7);
	engine_hand_over(&by, &b.key, EVIDENCE_WAKE); /* another one */
	assert_int_equal(call(WORKER), 7);
	engine_hand_over(&by, &a.key, EVIDENCE_WAKE);
	assert_int_equal(call(WORKER), 0);
	assert_int_equal(put(WORKER), 0);
	got(QUEUE, ITEM, 7);
	assert_int_equal(put(WORKER), 7);
	assert_int_equal(call(WORKER), 7);
	engine_hand_over(&by, &a.key, EVIDENCE_WAKE);
	engine_end(8);
	assert_int_equal(call(WORKER), 7);
}

/*
 * A worker that has called, and wakes who has another request, but never who waits for what it took
 * out, does what waits in some list: from then on what is taken out counts only while no other
 * request is open.
 */
static void another_one_is_woken(void **state)
{
	struct actor a = actor(READER), b = actor(OTHER_READER), by = actor(WORKER);

	(void)state;
	take(7, &a);
	take(8, &b);
	got(QUEUE, ITEM, 7);
	assert_int_equal(call(WORKER), 7);
	engine_hand_over(&by, &b.key, EVIDENCE_WAKE); /* it may have wanted a lock */
	engine_hand_over(&by, &a.key, EVIDENCE_WAKE);
	got(QUEUE, ITEM + 1, 7);
	assert_int_equal(call(WORKER), 7);
	engine_hand_over(&by, &b.key, EVIDENCE_WAKE);
	got(QUEUE, ITEM + 2, 7);
	assert_int_equal(call(WORKER), 0);
	engine_end(8);
	got(QUEUE, ITEM + 3, 7);
	assert_int_equal(call(WORKER), 7);
}

/* Ruby: who has left the interpreter's lock to another thread has handed over nothing. */
static void lock_hands_over_nothing(void **state)
{
	struct actor a = actor(READER), woken = actor(WORKER);
	struct socket client = {};

	(void)state;
	a.runtime = RUNTIME_RUBY;
	take(7, &a);
	engine_hand_over(&a, &woken.key, EVIDENCE_WAKE);
	assert_int_equal(call(WORKER), 0);
	a.tells = 1;
	engine_hand_over(&a, &woken.key, EVIDENCE_WAKE);
	engine_call(&client, &woken, 1, 80);
	assert_int_equal(client.call[0].request, 7);
}

/* Ruby: who wakes may just let the other one have the interpreter's lock. */
static void who_waits_for_a_lock_is_woken(void **state)
{
	struct actor a = actor(READER), b = actor(OTHER_READER), by = actor(WORKER);

	(void)state;
	by.runtime = RUNTIME_RUBY;
	take(7, &a);
	take(8, &b);
	got(QUEUE, ITEM, 7);
	assert_int_equal(call(WORKER), 7);
	engine_hand_over(&by, &a.key, EVIDENCE_WAKE);
	assert_int_equal(call(WORKER), 7);
	by.tells = 1;
	engine_hand_over(&by, &a.key, EVIDENCE_WAKE);
	assert_int_equal(call(WORKER), 0);
}

/* What is put into another queue is a result, mostly. */
static void who_asks_puts_in_the_next_one(void **state)
{
	struct actor a = actor(READER);

	(void)state;
	take(7, &a);
	got(QUEUE, ITEM, 7);
	assert_int_equal(call(WORKER), 7);
	assert_int_equal(put_into(OTHER_QUEUE, WORKER), 7);
	a.key.tid = WORKER + 1;
	take(8, &a);
	assert_int_equal(put(WORKER + 1), 8);
	assert_int_equal(put(WORKER), 0);
	assert_int_equal(put(WORKER + 1), 8); /* the other one has what it waits for */
	a.key.tid = WORKER + 2;
	take(9, &a);
	assert_int_equal(put(WORKER + 1), 0);
	engine_end(9);
	assert_int_equal(put(WORKER + 1), 8);
}

static void call_after_the_end(void **state)
{
	struct actor a = actor(READER);

	(void)state;
	take(7, &a);
	take(8, &a);
	got(QUEUE, ITEM, 7);
	engine_end(7);
	request_delete(7);
	assert_int_equal(call(WORKER), 0);
}

static void loop_one_by_one(void **state)
{
	struct actor a = loop();

	(void)state;
	take(7, &a);
	assert_int_equal(put(READER), 7);
	assert_int_equal(put(READER), 7);
	take(8, &a);
	assert_int_equal(put(READER), 8);
	store_turn++;
	a = loop();
	take(9, &a);
	assert_int_equal(put(READER), 9);
}

static void loop_that_reads_several_first(void **state)
{
	struct actor a = loop();

	(void)state;
	take(7, &a);
	take(8, &a);
	assert_int_equal(put(READER), 0);
	assert_int_equal(put(READER), 0);
	store_turn++;
	a = loop();
	take(9, &a);
	assert_int_equal(put(READER), 9);
}

static void loop_that_puts_later(void **state)
{
	struct actor a = loop();

	(void)state;
	take(7, &a);
	store_turn++;
	assert_int_equal(put(READER), 0);
	a = loop();
	take(8, &a); /* what is put now may be for 7 */
	assert_int_equal(put(READER), 0);
	engine_end(7);
	request_delete(7);
	assert_int_equal(put(READER), 8);
}

static void something_from_another_queue(void **state)
{
	struct actor a = actor(READER);

	(void)state;
	take(7, &a);
	take(8, &a);
	got(QUEUE, ITEM, 7);
	got(OTHER_QUEUE, ITEM, 7);
	assert_int_equal(call(WORKER), 7);
	got(OTHER_QUEUE, ITEM, 8);
	assert_int_equal(call(WORKER), 0);
	got(QUEUE, ITEM, 8);
	assert_int_equal(call(WORKER), 8);
}

static void things_that_are_put_back(void **state)
{
	(void)state;
	got(QUEUE, ITEM, 0);
	assert_true(queue_lends(worker(WORKER), QUEUE, ITEM));
	assert_false(queue_lends(worker(WORKER), QUEUE, ITEM + 1));
	assert_false(queue_lends(worker(WORKER), OTHER_QUEUE, ITEM));
}

/* Who takes out the next thing has called for the last one, or handed it on; or it keeps both. */
static void several_at_a_time(void **state)
{
	struct actor a = actor(READER);

	(void)state;
	take(7, &a);
	assert_false(queue_keeps(worker(WORKER), QUEUE));
	got(QUEUE, ITEM, 7);
	assert_true(queue_keeps(worker(WORKER), QUEUE));
	assert_false(queue_keeps(worker(WORKER), OTHER_QUEUE));
	call(WORKER);
	assert_false(queue_keeps(worker(WORKER), QUEUE));
	got(QUEUE, ITEM + 1, 7);
	assert_true(queue_keeps(worker(WORKER), QUEUE));
	put_into(OTHER_QUEUE, WORKER);
	assert_false(queue_keeps(worker(WORKER), QUEUE));
}

/* Who takes out the next thing has woken who waited for the last one, or that has responded. */
static void served_without_calls(void **state)
{
	struct actor a = actor(READER), worker_actor = actor(WORKER);
	struct worker_key reader = {.tgid = TGID, .tid = READER};

	(void)state;
	take(7, &a);
	got(QUEUE, ITEM, 7);
	assert_false(queue_is_served(worker(WORKER)));
	engine_hand_over(&worker_actor, &reader, EVIDENCE_WAKE);
	assert_true(queue_is_served(worker(WORKER)));
	got(QUEUE, ITEM + 1, 7);
	assert_false(queue_is_served(worker(WORKER)));
	engine_end(7);
	request_delete(7);
	assert_true(queue_is_served(worker(WORKER)));
	got(QUEUE, ITEM, 0);
	assert_false(queue_is_served(worker(WORKER)));
}

static void wake_says_less(void **state)
{
	struct actor a = actor(READER);
	struct worker_key key = {.tgid = TGID, .tid = WORKER};

	(void)state;
	take(7, &a);
	got(QUEUE, ITEM, 7);
	engine_end(7);
	request_delete(7);
	take(8, &a);
	engine_hand_over(&a, &key, EVIDENCE_WAKE);
	assert_int_equal(call(WORKER), 0);
}

static void profilers_see_it_at_work(void **state)
{
	struct actor a = loop();

	(void)state;
	take(7, &a);
	got(QUEUE, ITEM, 7);
	assert_int_equal(shown(), 7);
	asked(OTHER_QUEUE);
	assert_int_equal(shown(), 7);
	asked(QUEUE);
	assert_int_equal(shown(), 0);
	assert_int_equal(request_lookup(7)->helper_thread, 0);
	got(QUEUE, ITEM, 7);
	assert_int_equal(shown(), 7);
	take(8, &a);
	got(QUEUE, ITEM, 8);
	assert_int_equal(shown(), 8);
	assert_int_equal(request_lookup(7)->helper_thread, 0);
	got(QUEUE, ITEM, 0);
	assert_int_equal(shown(), 0);
}

/* It goes on although the response is sent. */
static void profilers_see_nothing_after_the_end(void **state)
{
	struct actor a = loop();

	(void)state;
	take(7, &a);
	got(QUEUE, ITEM, 7);
	engine_end(7);
	request_delete(7);
	assert_int_equal(shown(), 0);
	assert_int_equal(worker(WORKER)->published, 0);
	got(QUEUE, ITEM, 7);
	assert_int_equal(shown(), 0);
	assert_int_equal(store_traces_count(), 0);
}

/* It is one of several for the same request: the first one is seen. */
static void profilers_see_one_of_several(void **state)
{
	struct worker_key second = {.tgid = TGID, .tid = WORKER + 1};
	struct actor a = loop();

	(void)state;
	take(7, &a);
	got(QUEUE, ITEM, 7);
	queue_got(worker(second.tid), &second, QUEUE, ITEM + 1, 7);
	assert_int_equal(shown(), 7);
	assert_null(store_traces(TGID, second.tid));
	engine_exit(&second);
	assert_int_equal(shown(), 7);
	engine_end(7);
	assert_int_equal(store_traces_count(), 0);
}

#define LOOP_THREAD 40

/* A thread is at a step of request `id`. */
static void step_of(__u32 tid, __u64 id)
{
	struct worker_key key = {.tgid = TGID, .tid = tid};
	struct request *r = request_lookup(id);

	thread_begins_step(&key, r, id, request_shown(r, id));
}

static void step_ends(__u32 tid)
{
	struct worker_key key = {.tgid = TGID, .tid = tid};

	thread_ends_step(&key);
}

/* Tasks take turns on a thread: it is shown with the one that is at work, and with none between. */
static void profilers_see_steps(void **state)
{
	struct actor a = loop();

	(void)state;
	take(7, &a);
	take(8, &a);
	step_of(LOOP_THREAD, 7);
	assert_int_equal(traces_ctx_span(store_traces(TGID, LOOP_THREAD)), 7);
	step_ends(LOOP_THREAD);
	assert_int_equal(store_traces_count(), 0);
	assert_int_equal(request_lookup(7)->shown_thread, 0);
	step_of(LOOP_THREAD, 8);
	assert_int_equal(traces_ctx_span(store_traces(TGID, LOOP_THREAD)), 8);
	step_ends(LOOP_THREAD);
}

static void profilers_see_no_step_after_the_end(void **state)
{
	struct actor a = loop();

	(void)state;
	take(7, &a);
	take(8, &a);
	step_of(LOOP_THREAD, 7);
	engine_end(8);
	assert_int_equal(store_traces_count(), 1);
	engine_end(7);
	assert_int_equal(store_traces_count(), 0);
	step_of(LOOP_THREAD, 7);
	assert_int_equal(store_traces_count(), 0);
}

/* Two threads are at steps of one request: the first is seen, and nothing stale of the other. */
static void profilers_see_steps_of_one_thread(void **state)
{
	struct actor a = loop();

	(void)state;
	take(7, &a);
	take(8, &a);
	step_of(LOOP_THREAD, 7);
	step_of(LOOP_THREAD + 1, 8);
	step_of(LOOP_THREAD + 1, 7);
	assert_int_equal(traces_ctx_span(store_traces(TGID, LOOP_THREAD)), 7);
	assert_null(store_traces(TGID, LOOP_THREAD + 1));
	engine_end(7);
	assert_int_equal(store_traces_count(), 0);
}

/* A thread that is shown with the job that it has got stays so, whatever runs on it meanwhile. */
static void profilers_see_jobs_before_steps(void **state)
{
	struct actor a = loop();

	(void)state;
	take(7, &a);
	take(8, &a);
	got(QUEUE, ITEM, 7);
	step_of(WORKER, 8);
	assert_int_equal(shown(), 7);
	step_ends(WORKER);
	assert_int_equal(shown(), 7);
}

#define CASE(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(worker_of_a_thread),
	    CASE(call_after_the_end),
	    CASE(loop_one_by_one),
	    CASE(loop_that_reads_several_first),
	    CASE(loop_that_puts_later),
	    CASE(something_from_another_queue),
	    CASE(things_that_are_put_back),
	    CASE(several_at_a_time),
	    CASE(served_without_calls),
	    CASE(wake_says_less),
	    CASE(next_one_when_one_is_done),
	    CASE(who_waits_is_woken),
	    CASE(another_one_is_woken),
	    CASE(who_waits_for_a_lock_is_woken),
	    CASE(lock_hands_over_nothing),
	    CASE(who_asks_puts_in_the_next_one),
	    CASE(profilers_see_it_at_work),
	    CASE(profilers_see_nothing_after_the_end),
	    CASE(profilers_see_one_of_several),
	    CASE(profilers_see_steps),
	    CASE(profilers_see_no_step_after_the_end),
	    CASE(profilers_see_steps_of_one_thread),
	    CASE(profilers_see_jobs_before_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
