// SPDX-License-Identifier: Apache-2.0
/* What a worker works on at a moment at which it begins no call: the question of samples. */
#include "steps.h"

static struct verdict work(const struct actor *a)
{
	return decide_work(actor_worker(a), process(), a);
}

static struct actor next_turn(void)
{
	store_turn++;
	return actor(TID, 1);
}

static void thread_with_a_request(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket server = {};

	(void)state;
	take(&server, 7, &a);
	assert_int_equal(work(&a).request, 7);
	assert_int_equal(work(&a).evidence, EVIDENCE_THREAD);
	engine_responds(7);
	assert_int_equal(work(&a).request, 7);
	end(7);
	assert_int_equal(work(&a).request, 0);
	assert_int_equal(work(&a).veto, VETO_NONE);
}

/* What was read in an earlier turn is not what the loop is at. */
static void loop_in_its_turn_and_later(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {};

	(void)state;
	take(&server, 7, &a);
	assert_int_equal(work(&a).request, 7);
	assert_int_equal(work(&a).evidence, EVIDENCE_LOOP);
	a = next_turn();
	assert_int_equal(work(&a).request, 0);
	assert_int_equal(work(&a).veto, VETO_NO_EVIDENCE);
}

/* A thread that epoll tells when to read, though the sockets block, takes turns. */
static void thread_with_epoll(void **state)
{
	struct actor a = actor(TID, 0);
	struct socket server = {}, client = {.calls_end = 1};

	(void)state;
	a.turn.item = 0x1000;
	take(&server, 7, &a);
	assert_int_equal(work(&a).request, 7);
	assert_null(store_traces(TGID, TID));
	store_turn++;
	assert_int_equal(work(&a).request, 0);
	assert_int_equal(call(&client, &a)->request, 7);
}

/* Epoll has told of a timer, too: the loop may be at that by now. */
static void loop_with_other_events(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, client = {.calls_end = 1};

	(void)state;
	take(&server, 7, &a);
	store_has_others = 1;
	assert_int_equal(work(&a).request, 0);
	assert_int_equal(work(&a).veto, VETO_NO_EVIDENCE);
	assert_int_equal(call(&client, &a)->request, 7);
	store_has_others = 0;
	assert_int_equal(work(&a).request, 7);
}

/* A request that responds makes no calls, but what the loop sends may be of it. */
static void loop_beside_one_that_responds(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {.calls_end = 1};

	(void)state;
	take(&first, 7, &a);
	engine_responds(7);
	a = next_turn();
	take(&second, 8, &a);
	assert_int_equal(work(&a).request, 0);
	assert_int_equal(work(&a).veto, VETO_IDLE_LOOP);
	assert_int_equal(call(&client, &a)->request, 8);
	end(7);
	assert_int_equal(work(&a).request, 8);
}

/* One that waits for an answer is told by that when it goes on. */
static void loop_beside_one_that_waits(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {.calls_end = 1};

	(void)state;
	take(&first, 7, &a);
	assert_int_equal(call(&client, &a)->request, 7);
	a = next_turn();
	take(&second, 8, &a);
	assert_int_equal(work(&a).request, 8);
}

/* A task is at the request that its runtime names, unless that is in doubt. */
static void task_that_is_named(void **state)
{
	struct actor a = actor(TID, 1), task = {.key = {.tgid = TGID, .context = 0x1000},
						.kind = ACTOR_RUNTIME,
						.by = EVIDENCE_TASK};
	struct socket first = {}, second = {};

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &a);
	task.named = 7;
	assert_int_equal(work(&task).request, 7);
	assert_int_equal(work(&task).evidence, EVIDENCE_TASK);
	task.doubtful = DOUBT_OTHERS;
	assert_int_equal(work(&task).request, 0);
	assert_int_equal(work(&task).veto, VETO_IDLE_PROCESS);
	task.named = 0;
	assert_int_equal(work(&task).veto, VETO_NO_EVIDENCE);
}

/* Whoever asks changes nothing: the call that comes then is decided as if nobody had. */
static void asking_changes_nothing(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket server = {}, other = {}, client = {.calls_end = 1};
	struct process p;
	struct worker w;

	(void)state;
	take(&server, 7, &a);
	take(&other, 8, &a);
	call(&client, &a);
	engine_answer(&client, &a, actor_thread(&a));
	w = *actor_worker(&a);
	p = *process();
	for (int i = 0; i < 3; i++)
		work(&a);
	assert_memory_equal(&w, actor_worker(&a), sizeof(w));
	assert_memory_equal(&p, process(), sizeof(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(thread_with_a_request),
	    CASE(loop_in_its_turn_and_later),
	    CASE(thread_with_epoll),
	    CASE(loop_with_other_events),
	    CASE(loop_beside_one_that_responds),
	    CASE(loop_beside_one_that_waits),
	    CASE(task_that_is_named),
	    CASE(asking_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
