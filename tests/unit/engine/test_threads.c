// SPDX-License-Identifier: Apache-2.0
/* Threads that read from sockets that do not block: does it say anything which of them it is? */
#include "steps.h"

/* How a socket is read that is in no epoll set, and one that epoll tells of once at a time. */
static struct actor reader(__u32 tid, enum actor_loop loop)
{
	struct actor a = actor(tid, 1);

	a.loop = loop;
	return a;
}

/* One request after the other, each with a call whose answer the caller reads. */
static void serve_alone(const struct actor *a, int requests)
{
	struct socket server = {}, client = {};

	for (int i = 0; i < requests; i++) {
		take(&server, 1000 + i, a);
		assert_int_equal(call(&client, a)->request, 1000 + i);
		engine_answer(&client, a, actor_thread(a));
		engine_respond(&server);
		end(1000 + i);
	}
}

/* Until those who call were seen to read the answers, others' requests could be meant. */
static void threads_that_may_say_nothing(void **state)
{
	struct actor a = reader(TID, ACTOR_LOOP_MAYBE), b = reader(OTHER, ACTOR_LOOP_MAYBE);
	struct socket first = {}, second = {}, one = {}, other = {};

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &b);
	assert_int_equal(call(&one, &a)->veto, VETO_IDLE_PROCESS);
	engine_answer(&one, &a, actor_thread(&a));
	end(7);
	assert_int_equal(call(&other, &b)->request, 8); /* there is no other */
	engine_answer(&other, &b, actor_thread(&b));
	end(8);
	serve_alone(&a, habit_rules[HABIT_THREADS_STAY].least - 2);
	take(&first, 9, &a);
	take(&second, 10, &b);
	assert_int_equal(call(&one, &a)->request, 9);
	assert_int_equal(call(&other, &b)->request, 10);
}

/* A thread that waits for requests leaves one to another, which responds: it may be at any by now.
 */
static void threads_that_leave(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = reader(OTHER, ACTOR_BLOCKS);
	struct socket first = {}, second = {}, one = {}, other = {};

	(void)state;
	take(&first, 7, &a);
	engine_respond_for(&first, &(struct record_thread){TGID, OTHER});
	end(7);
	take(&first, 8, &a);
	assert_int_equal(call(&one, &a)->request, 8); /* there is no other */
	engine_answer(&one, &a, actor_thread(&a));
	take(&second, 9, &b);
	assert_int_equal(actor_worker(&b)->published, 0);
	assert_int_equal(call(&one, &a)->veto, VETO_IDLE_PROCESS);
	assert_int_equal(call(&other, &b)->veto, VETO_IDLE_PROCESS);
}

/* What a runtime names is shown there all the same: it is no thread that leaves anything. */
static void threads_that_leave_beside_a_runtime(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = actor(OTHER, 1);
	struct socket first = {}, second = {};

	(void)state;
	b.kind = ACTOR_RUNTIME;
	take(&first, 7, &a);
	engine_respond_for(&first, &(struct record_thread){TGID, OTHER});
	take(&second, 8, &b);
	assert_int_equal(actor_worker(&b)->published, 8);
}

/* Who has read it responds; others may send the rest, or something else when that is over. */
static void threads_that_respond(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = reader(OTHER, ACTOR_BLOCKS);
	struct socket first = {}, second = {}, one = {};

	(void)state;
	take(&first, 7, &a);
	engine_respond_for(&first, &(struct record_thread){TGID, TID});
	engine_responds(7);
	engine_respond_for(&first, &(struct record_thread){TGID, OTHER});
	end(7);
	engine_respond_for(&first, &(struct record_thread){TGID, OTHER});
	take(&first, 8, &a);
	take(&second, 9, &b);
	assert_int_equal(call(&one, &a)->request, 8);
}

/* Who reads from sockets that block has nothing else to do. */
static void threads_that_block(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = reader(OTHER, ACTOR_BLOCKS);
	struct socket first = {}, second = {}, one = {}, other = {};

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &b);
	assert_int_equal(call(&one, &a)->request, 7);
	assert_int_equal(call(&other, &b)->request, 8);
	engine_answer(&one, &b, actor_thread(&b)); /* it may read for all */
	assert_true(process_has_habit(process(), HABIT_LOOPS_APART));
}

/* Another thread than the one that called reads the answer. */
static void threads_that_go_on_for_others(void **state)
{
	struct actor a = reader(TID, ACTOR_LOOP_MAYBE), b = reader(OTHER, ACTOR_LOOP_MAYBE);
	struct socket first = {}, second = {}, third = {}, one = {};

	(void)state;
	serve_alone(&a, habit_rules[HABIT_THREADS_STAY].least);
	take(&first, 7, &a);
	assert_int_equal(call(&one, &a)->request, 7);
	take(&second, 8, &b);
	engine_answer(&one, &b, actor_thread(&b));
	assert_false(process_has_habit(process(), HABIT_LOOPS_APART));
	assert_int_equal(call(&one, &b)->veto, VETO_IDLE_PROCESS); /* 7 goes on here, maybe */
	engine_answer(&one, &b, actor_thread(&b));
	end(7);
	end(8);
	take(&third, 9, &b);
	assert_int_equal(call(&one, &b)->request, 9); /* there is no other */
}

/* A runtime has threads of its own, and these wait for sockets one shot at a time. */
static void threads_of_a_runtime(void **state)
{
	struct actor a = reader(TID, ACTOR_LOOP_ANY), b = reader(OTHER, ACTOR_LOOP_ANY);
	struct socket first = {}, second = {}, one = {};

	(void)state;
	serve_alone(&a, habit_rules[HABIT_THREADS_STAY].least);
	take(&first, 7, &a);
	take(&second, 8, &b);
	assert_int_equal(call(&one, &b)->veto, VETO_IDLE_PROCESS);
}

/* Nor do threads then that were made meanwhile, however many others have ended in time. */
static void threads_of_a_runtime_that_are_made(void **state)
{
	struct actor a = reader(TID, ACTOR_LOOP_ANY), made = reader(OTHER, ACTOR_LOOP_ANY);
	struct socket first = {}, second = {}, one = {};

	(void)state;
	for (__u32 i = 0; i < habit_rules[HABIT_THREADS_END].least; i++) {
		take(&first, 100 + i, &a);
		engine_hand_over(&a, &made.key, EVIDENCE_FORK);
		assert_int_equal(call(&one, &made)->request, 100 + i);
		engine_answer(&one, &made, actor_thread(&made));
		engine_exit(&made.key);
		engine_respond(&first);
		end(100 + i);
	}
	take(&first, 7, &a);
	engine_hand_over(&a, &made.key, EVIDENCE_FORK);
	take(&second, 8, &a);
	assert_int_equal(call(&one, &made)->veto, VETO_IDLE_PROCESS);
}

/* As many threads end before the request that they were made for as it takes to trust them. */
static void learn_that_threads_end(const struct actor *by, struct actor *made)
{
	struct socket s = {}, one = {};

	for (__u32 i = 0; i < habit_rules[HABIT_THREADS_END].least; i++) {
		take(&s, 100 + i, by);
		engine_hand_over(by, &made->key, EVIDENCE_FORK);
		assert_int_equal(call(&one, made)->request, 100 + i);
		engine_answer(&one, made, actor_thread(made));
		engine_exit(&made->key);
		engine_respond(&s);
		end(100 + i);
	}
}

/*
 * A thread that was made for a request has called, and wakes who waits for it: what it calls for
 * then may be what others have put into a list, unless there are none.
 */
static void threads_that_wake_who_waits(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = reader(THIRD, ACTOR_BLOCKS);
	struct actor made = reader(OTHER, ACTOR_BLOCKS);
	struct socket first = {}, second = {}, one = {};

	(void)state;
	learn_that_threads_end(&a, &made);
	take(&first, 7, &a);
	engine_hand_over(&a, &made.key, EVIDENCE_FORK);
	take(&second, 8, &b);
	assert_int_equal(call(&one, &made)->request, 7);
	engine_answer(&one, &made, actor_thread(&made));
	engine_hand_over(&made, &b.key, EVIDENCE_WAKE);
	assert_int_equal(call(&one, &made)->request, 7); /* it was another one's thread */
	engine_answer(&one, &made, actor_thread(&made));
	engine_hand_over(&made, &a.key, EVIDENCE_WAKE);
	assert_int_equal(call(&one, &made)->veto, VETO_IDLE_PROCESS);
	engine_answer(&one, &made, actor_thread(&made));
	engine_respond(&second);
	end(8);
	assert_int_equal(call(&one, &made)->request, 7);
}

/* One that wakes who waits before it has called has done nothing yet. */
static void threads_that_say_that_they_are_there(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = reader(THIRD, ACTOR_BLOCKS);
	struct actor made = reader(OTHER, ACTOR_BLOCKS);
	struct socket first = {}, second = {}, one = {};

	(void)state;
	learn_that_threads_end(&a, &made);
	take(&second, 8, &b);
	take(&first, 7, &a);
	engine_hand_over(&a, &made.key, EVIDENCE_FORK);
	engine_hand_over(&made, &a.key, EVIDENCE_WAKE);
	assert_int_equal(call(&one, &made)->request, 7);
}

/* What a thread of a pool calls for that was made for a request is believed while there is one. */
static void threads_of_a_pool(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = reader(THIRD, ACTOR_BLOCKS);
	struct actor made = reader(OTHER, ACTOR_BLOCKS);
	struct socket first = {}, second = {}, one = {}, two = {};

	(void)state;
	learn_that_threads_end(&a, &made);
	made.doubtful = GIVEN_JOBS;
	take(&first, 7, &a);
	engine_hand_over(&a, &made.key, EVIDENCE_FORK);
	assert_int_equal(call(&one, &made)->request, 7);
	engine_answer(&one, &made, actor_thread(&made));
	take(&second, 8, &b);
	assert_int_equal(call(&two, &b)->request, 8);
	assert_int_equal(call(&one, &made)->veto, VETO_IDLE_PROCESS);
}

/* A thread with a request calls, gets the answer, and wakes another one. */
static void call_and_wake(struct socket *one, const struct actor *by, const struct actor *woken)
{
	call(one, by);
	engine_answer(one, by, actor_thread(by));
	engine_hand_over(by, &woken->key, EVIDENCE_WAKE);
}

/*
 * A thread that does what waits in a list for others, too, wakes these, who then respond without
 * having called. From then on it is not believed to go on with its own while others may wait.
 */
static void threads_that_call_for_others(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = reader(OTHER, ACTOR_BLOCKS);
	struct socket first = {}, second = {}, one = {};

	(void)state;
	take(&first, 7, &a);
	for (int i = 0; i < SERVES_OWN_WEIGHT; i++) {
		take(&second, 100 + i, &b);
		call_and_wake(&one, &a, &b);
		engine_respond(&second);
		end(100 + i);
	}
	take(&second, 9, &b);
	assert_int_equal(call(&one, &a)->veto, VETO_IDLE_PROCESS);
	engine_answer(&one, &a, actor_thread(&a));
	engine_respond(&first);
	end(7);
	take(&first, 10, &a);
	assert_int_equal(call(&one, &a)->request, 10);
}

/* A thread that has waited for room is woken, and calls (or not); then the one that made room. */
static const struct call *make_room(const struct actor *a, const struct actor *b, __u64 id,
				    int calls)
{
	struct socket second = {}, one = {}, two = {};
	static struct socket own;

	take(&second, id, b);
	call_and_wake(&one, a, b);
	if (calls) {
		assert_int_equal(call(&two, b)->request, id);
		engine_answer(&two, b, actor_thread(b));
	}
	engine_respond(&second);
	end(id);
	call(&own, a);
	engine_answer(&own, a, actor_thread(a));
	return socket_last_call(&own);
}

/* Where threads wake those that have waited for room, and most of these call then, all are
 * believed. */
static void threads_that_make_room(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = reader(OTHER, ACTOR_BLOCKS);
	struct actor c = reader(THIRD, ACTOR_BLOCKS);
	struct socket first = {}, third = {};

	(void)state;
	take(&first, 7, &a);
	take(&third, 9, &c);
	for (int i = 0; i < SERVES_OWN_WEIGHT; i++)
		assert_int_equal(make_room(&a, &b, 100 + i, 1)->request, 7);
	assert_int_equal(make_room(&a, &b, 200, 0)->veto, VETO_IDLE_PROCESS);
	for (int i = 0; i < SERVES_OWN_WEIGHT; i++)
		make_room(&a, &b, 300 + i, 1);
	assert_int_equal(make_room(&a, &b, 400, 1)->request, 7);
}

/* A thread that is made for a request calls, and wakes who has another one; that ends without a
 * call. */
static void heir_calls(const struct actor *a, const struct actor *b, const struct actor *made)
{
	struct socket first = {}, second = {}, one = {};

	take(&first, 7, a);
	engine_hand_over(a, &made->key, EVIDENCE_FORK);
	take(&second, 8, b);
	assert_int_equal(call(&one, made)->request, 7); /* nothing has told yet */
	engine_answer(&one, made, actor_thread(made));
	engine_hand_over(made, &b->key, EVIDENCE_WAKE);
	engine_exit(&made->key);
	engine_respond(&second);
	end(8);
	engine_respond(&first);
	end(7);
}

/*
 * A thread that was made for a request calls, wakes who has another one, and ends: it has called
 * for that one. From then on those that are made are believed only while no other request is open.
 */
static void threads_that_wake_others(void **state)
{
	struct actor a = reader(TID, ACTOR_BLOCKS), b = reader(THIRD, ACTOR_BLOCKS);
	struct actor made = reader(OTHER, ACTOR_BLOCKS);
	struct socket first = {}, second = {}, one = {};

	(void)state;
	learn_that_threads_end(&a, &made);
	heir_calls(&a, &b, &made);
	take(&first, 9, &a);
	engine_hand_over(&a, &made.key, EVIDENCE_FORK);
	take(&second, 10, &b);
	assert_int_equal(call(&one, &made)->veto, VETO_IDLE_PROCESS);
	engine_answer(&one, &made, actor_thread(&made));
	engine_respond(&second);
	end(10);
	assert_int_equal(call(&one, &made)->request, 9);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(threads_that_may_say_nothing),
	    CASE(threads_that_block),
	    CASE(threads_that_leave),
	    CASE(threads_that_leave_beside_a_runtime),
	    CASE(threads_that_respond),
	    CASE(threads_that_go_on_for_others),
	    CASE(threads_of_a_runtime),
	    CASE(threads_of_a_runtime_that_are_made),
	    CASE(threads_that_wake_who_waits),
	    CASE(threads_that_say_that_they_are_there),
	    CASE(threads_of_a_pool),
	    CASE(threads_that_call_for_others),
	    CASE(threads_that_make_room),
	    CASE(threads_that_wake_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
