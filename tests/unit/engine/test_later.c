// SPDX-License-Identifier: Apache-2.0
/* What a loop leaves for later: which reading it was asked for in, and who else could be meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store.h"
#include "engine/engine.h"
#include "runtimes/node/later.h"

enum { TGID = 100, TID = 101 };

static struct later later;
static struct later_counts counts;

static int begin(void **state)
{
	(void)state;
	store_clear();
	later = (struct later){};
	counts = (struct later_counts){.turns = 10, .events = 100};
	later_is_over(&later, &counts, 0);
	return 0;
}

static struct actor loop(void)
{
	return (struct actor){.key = {.tgid = TGID, .tid = TID},
			      .kind = ACTOR_THREAD,
			      .path = 1,
			      .loop = ACTOR_LOOP,
			      .phase = PHASE_READING,
			      .turn = {.switches = store_turn}};
}

static struct worker *worker(void)
{
	struct actor a = loop();

	return worker_lookup(&a.key);
}

static struct process *process(void)
{
	__u32 tgid = TGID;

	return process_lookup(&tgid);
}

/* Something is read from the socket with this item; `number` is the last that was given. */
static void reads_now(__u64 request, __u64 number, enum evidence by, __u64 item)
{
	const struct worker *w = worker();
	struct later_reading now = {.number = number,
				    .request = request,
				    .by = by,
				    .is_open = request_standing(request) != STANDING_NONE};

	if (w)
		now.flags = w->flags & LATER_FLAGS;
	later_read(&later, &now, item, w ? w->before : 0);
}

static void reads(__u64 request, __u64 number, __u64 item)
{
	reads_now(request, number, EVIDENCE_LOOP, item);
}

/* A request arrives, and is read. */
static void take(__u64 id, __u64 number)
{
	struct actor a = loop();
	struct socket s = {.flags = SOCKET_SERVER, .serving = id};

	store_request(id);
	engine_take(id, &a, 1);
	engine_read(&s, &a, actor_thread(&a));
	reads(id, number, id);
}

/* All is read; so many events there were in the turn. */
static void over(__u32 events, __u64 number)
{
	counts.turns++;
	counts.events += events;
	later_is_over(&later, &counts, number);
}

static const struct call *call_in(struct socket *s, enum actor_phase phase)
{
	struct actor a = loop();

	a.phase = phase;
	engine_call(s, &a, s->calls_end * 1000, 80);
	return socket_last_call(s);
}

/* The worker is at this reading again. */
static void goes_back(int at)
{
	later_goes_back(&later, worker(), process(), at, later_others(&later, at));
}

/* The call that what has this number makes on a connection. */
static const struct call *call(struct socket *s, __u64 number)
{
	int at = later_find(&later, number);

	assert_true(at >= 0);
	goes_back(at);
	return call_in(s, PHASE_ASKED);
}

/* It is of what was read when it was asked for, whatever was read after that. */
static void each_has_its_own(void **state)
{
	struct socket s[] = {
	    {.calls_end = 1}, {.calls_end = 1}, {.calls_end = 1}, {.calls_end = 1}};

	(void)state;
	later.orderly.kept = habit_rules[HABIT_ORDERLY].least;
	take(7, 50);
	assert_int_equal(call_in(&s[0], PHASE_READING)->request, 7);
	take(8, 60);
	assert_int_equal(call_in(&s[1], PHASE_READING)->request, 8);
	over(2, 70);
	assert_int_equal(call(&s[2], 55)->request, 7); /* one more */
	assert_int_equal(call(&s[3], 65)->request, 8);
}

/* What has this number does something. Returns later_find_running(). */
static int asks(uint64_t number)
{
	const struct later_running now = {.runs = number};
	int at = later_find_running(&later, &now);

	if (at >= 0)
		goes_back(at);
	return at;
}

/* Both wait for others, and were read in this turn. */
static void two_that_may_call(struct socket s[2])
{
	take(7, 50);
	assert_int_equal(call_in(&s[0], PHASE_READING)->request, 7);
	take(8, 60);
	assert_int_equal(call_in(&s[1], PHASE_READING)->request, 8);
	over(2, 70);
}

/* Until it was seen that it makes its own call only, it may be at any request of the turn. */
static void not_known_yet(void **state)
{
	struct socket s[2] = {{.calls_end = 1}, {.calls_end = 1}};

	(void)state;
	two_that_may_call(s);
	assert_int_equal(asks(55), 0);
	assert_int_equal(worker()->flags & WORKER_UNSURE, WORKER_UNSURE);
	assert_int_equal(asks(65), 1);
	assert_int_equal(worker()->flags & WORKER_UNSURE, WORKER_UNSURE);
	later.orderly.kept = habit_rules[HABIT_ORDERLY].least;
	later_reading(&later, 0)->flags = 0;
	assert_int_equal(asks(56), 0);
	assert_int_equal(worker()->flags & WORKER_UNSURE, 0);
}

/* A request has got an answer, to the call on that connection. */
static void answer(struct socket *s, __u64 id, __u64 number)
{
	struct actor a = loop();

	engine_answer(s, &a, actor_thread(&a));
	reads_now(id, number, EVIDENCE_ANSWER, 1000 + id);
}

/* Two begin calls later in one turn, and wait for nothing else. */
static void two_that_call_later(struct socket s[2])
{
	take(7, 50);
	take(8, 60);
	over(2, 70);
	call(&s[0], 55);
	assert_int_equal(socket_last_call(&s[0])->veto, VETO_IDLE_LOOP);
	assert_int_equal(socket_last_call(&s[0])->request, 7); /* it is likely */
}

/* Who responds when the answer has come tells whose the call was. */
static void who_responds_tells(void **state)
{
	struct socket s[2] = {{.calls_end = 1}, {.calls_end = 1}};

	(void)state;
	two_that_call_later(s);
	answer(&s[0], 7, 80);
	later_learns(&later, worker(), 7);
	assert_int_equal(later.orderly.kept, 1);
	later_learns(&later, worker(), 7); /* more of the same response */
	assert_int_equal(later.orderly.kept, 1);
	assert_int_equal(later.orderly.broken, 0);
}

static void another_one_responds(void **state)
{
	struct socket s[2] = {{.calls_end = 1}, {.calls_end = 1}};

	(void)state;
	two_that_call_later(s);
	answer(&s[0], 7, 80);
	later_learns(&later, worker(), 8);
	assert_int_equal(later.orderly.broken, 1);
	later.orderly.kept = habit_rules[HABIT_ORDERLY].least;
	assert_int_equal(
	    later_is_overtaken(&later, process(), later_reading(&later, 0), LATER_OTHERS_BEFORE),
	    1);
}

/* The answer to a call that is believed to be of 7, or not known, may lead to one of anybody. */
static void unsure_answer_beside(void **state)
{
	struct socket s[2] = {{.calls_end = 1}, {.calls_end = 1}};

	(void)state;
	two_that_call_later(s);
	later.orderly.broken = 1;
	take(9, 80);
	engine_end(7);
	answer(&s[0], 7, 90);
	assert_int_equal(worker()->flags & WORKER_UNSURE, WORKER_UNSURE);
	over(2, 100);
	assert_int_equal(later_others(&later, 0), LATER_OTHERS_SINCE);
	assert_int_equal(call(&s[1], 85)->evidence, EVIDENCE_NONE);
	assert_int_equal(process()->habit[HABIT_SERIAL].broken, 0);
}

/* What calls several times may be at any request that was read since it was asked for. */
static void batch_of_several(void **state)
{
	struct socket s[] = {{.calls_end = 1}, {.calls_end = 1}, {.calls_end = 1}};

	(void)state;
	later.orderly.kept = habit_rules[HABIT_ORDERLY].least;
	two_that_may_call(s);
	assert_int_equal(asks(55), 0);
	assert_int_equal(worker()->flags & WORKER_UNSURE, 0);
	assert_int_equal(asks(55), LATER_UNTOLD);
	assert_int_equal(asks(56), 0);
	assert_int_equal(call_in(&s[2], PHASE_ASKED)->evidence, EVIDENCE_NONE);
	assert_int_equal(socket_last_call(&s[2])->veto, VETO_IDLE_LOOP);
}

/* Who was idle could have made it. Then nothing is believed that this reading tells. */
static void others_are_idle(void **state)
{
	struct socket one = {.calls_end = 1}, two = {.calls_end = 1};
	const struct call *c;

	(void)state;
	take(6, 40);
	over(1, 45);
	take(7, 50);
	over(1, 60);
	c = call(&one, 55);
	assert_int_equal(c->request, 0);
	assert_int_equal(c->veto, VETO_IDLE_LOOP);
	assert_int_equal(call(&two, 56)->veto, VETO_SPENT);
}

/* What is spent stays so, also if something else was read, or asked for, in between. */
static void flags_stay_with_their_reading(void **state)
{
	struct socket one = {.calls_end = 1}, two = {.calls_end = 1};

	(void)state;
	take(6, 40);
	over(1, 45);
	take(7, 50);
	assert_int_equal(call_in(&one, PHASE_READING)->veto, VETO_IDLE_LOOP);
	take(8, 60);
	over(2, 70);
	assert_int_equal(later_reading(&later, 0)->flags & WORKER_SPENT, WORKER_SPENT);
	assert_int_equal(later_reading(&later, 1)->flags & WORKER_SPENT, 0);
	assert_int_equal(call(&two, 55)->veto, VETO_SPENT);
	goes_back(1);
	assert_int_equal(worker()->read, 8);
	assert_int_equal(worker()->flags & WORKER_SPENT, 0);
}

/* Where it cannot be told, the reading is nobody's as long as others may go on, too. */
static void not_told(void **state)
{
	struct socket one = {.calls_end = 1}, two = {.calls_end = 1}, three = {.calls_end = 1};

	(void)state;
	take(7, 50);
	assert_int_equal(call_in(&one, PHASE_LATER)->request, 7);
	take(8, 60);
	assert_int_equal(call_in(&two, PHASE_LATER)->veto, VETO_IDLE_LOOP); /* 7 waits for a part */
	engine_end(7);
	take(9, 70);
	engine_end(9);
	engine_end(8);
	engine_close(&two);
	take(10, 80);
	assert_int_equal(call_in(&three, PHASE_LATER)->request, 10);
}

/*
 * A connection that an answer has freed is used again later in the turn: by whoever has come first.
 * That is the one who has got the answer, if he calls again, and nobody waits for connections.
 */
static void connection_that_others_may_use(void **state)
{
	struct socket s[] = {{.calls_end = 1}, {.calls_end = 1}, {.calls_end = 1},
			     {.calls_end = 1}, {.calls_end = 1}, {.calls_end = 1}};

	(void)state;
	take(7, 50);
	process()->habit[HABIT_SERIAL].kept = habit_rules[HABIT_SERIAL].least; /* nobody waits */
	process()->habit[HABIT_PROMPT].kept = LATER_SEEN;
	later.orderly.kept = habit_rules[HABIT_ORDERLY].least;
	assert_int_equal(call_in(&s[0], PHASE_READING)->request, 7);
	take(8, 60);
	assert_int_equal(call_in(&s[1], PHASE_READING)->request, 8);
	over(2, 70);
	answer(&s[0], 7, 80);
	take(9, 90);
	assert_int_equal(call_in(&s[2], PHASE_READING)->request, 9);
	over(2, 100);
	assert_int_equal(call(&s[0], 85)->request, 7); /* its next one */
	answer(&s[0], 7, 110);
	assert_int_equal(call_in(&s[3], PHASE_READING)->request, 7); /* elsewhere */
	take(10, 120);
	assert_int_equal(call_in(&s[4], PHASE_READING)->request, 10);
	over(2, 130);
	assert_int_equal(call(&s[0], 115)->evidence, EVIDENCE_NONE); /* of 7, or of 10 */
	assert_int_equal(socket_last_call(&s[0])->veto, VETO_IDLE_LOOP);
}

/* Once others were seen to go on with a connection, who has got an answer is not believed to. */
static void connection_that_others_use(void **state)
{
	struct socket s[] = {{.calls_end = 1}, {.calls_end = 1}};

	(void)state;
	take(7, 50);
	process()->habit[HABIT_SERIAL].kept = habit_rules[HABIT_SERIAL].least;
	assert_int_equal(call_in(&s[0], PHASE_READING)->request, 7);
	take(8, 60);
	assert_int_equal(call_in(&s[1], PHASE_READING)->request, 8);
	over(2, 70);
	answer(&s[0], 7, 80);
	engine_end(7);
	over(1, 90);
	assert_int_equal(call(&s[0], 85)->veto, VETO_ENDED);
	assert_true(process_has_broken(process(), HABIT_KEEPS_TURN));
}

/* Something else has happened in the turn, of which is not known when. */
static void turn_with_other_events(void **state)
{
	(void)state;
	reads(7, 50, 1);
	over(2, 60);
	assert_int_equal(later_find(&later, 55), LATER_UNTOLD);
	reads(7, 70, 1);
	counts.turns++; /* and one was missed */
	over(1, 80);
	assert_int_equal(later_find(&later, 75), LATER_UNTOLD);
	reads(7, 90, 1);
	over(1, 99);
	assert_int_equal(later_find(&later, 95), 0);
}

static void numbers_of_other_turns(void **state)
{
	const struct later_running tick = {.runs = 61, .maker = 55}, old = {.runs = 61, .maker = 3};

	(void)state;
	reads(7, 50, 1);
	assert_int_equal(later_find(&later, 55), LATER_UNTOLD); /* it goes on */
	over(1, 60);
	assert_int_equal(later_find(&later, 50), LATER_BEFORE);
	assert_int_equal(later_find(&later, 61), LATER_UNTOLD); /* made since */
	assert_int_equal(later_find(&later, 0), LATER_UNTOLD);
	assert_int_equal(later_find_running(&later, &tick), 0); /* by what was left for later */
	assert_int_equal(later_find_running(&later, &tick), LATER_UNTOLD); /* once more */
	assert_int_equal(later_find_running(&later, &old), LATER_UNTOLD);
	over(0, 62);
	assert_int_equal(later_find(&later, 55), LATER_UNTOLD); /* nothing was read */
}

/* A socket is read until it is empty: that is one event, but may be several requests. */
static void several_reads_of_one_socket(void **state)
{
	(void)state;
	reads(7, 50, 1000);
	reads(8, 60, 1000);
	reads(9, 70, 2000);
	assert_int_equal(later.known, 2);
	over(2, 80);
	assert_int_equal(later_find(&later, 55), 0);
	assert_int_equal(later_find(&later, 65), 1);
	assert_int_equal(later_find(&later, 75), 2);
}

/* More than there is room for. */
static void too_many_readings(void **state)
{
	(void)state;
	for (int i = 0; i <= LATER_READINGS; i++)
		reads(1000 + i, 10 + i, 1 + i);
	over(LATER_READINGS + 1, 500);
	assert_int_equal(later_find(&later, 15), LATER_UNTOLD);
}

#define CASE(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(each_has_its_own),
	    CASE(not_known_yet),
	    CASE(who_responds_tells),
	    CASE(another_one_responds),
	    CASE(unsure_answer_beside),
	    CASE(batch_of_several),
	    CASE(others_are_idle),
	    CASE(not_told),
	    CASE(flags_stay_with_their_reading),
	    CASE(connection_that_others_may_use),
	    CASE(connection_that_others_use),
	    CASE(turn_with_other_events),
	    CASE(numbers_of_other_turns),
	    CASE(too_many_readings),
	    CASE(several_reads_of_one_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
