// SPDX-License-Identifier: Apache-2.0
/* The queue between the tracer and the thread that sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "otlp/queue.h"

#define CAPACITY 8
#define LONG_NS  (20 * NS_PER_SECOND)
#define SHORT_NS (NS_PER_SECOND / 20)

static bool put(struct queue *queue, __u64 id)
{
	struct span span = {.span_id = id};

	memset(span.trace_id, 0xff, sizeof(span.trace_id)); /* the last one that is lost */
	return queue_put(queue, &span, (__s64)id * 10);
}

static void keeps_the_order_and_drops_the_newest(void **state)
{
	struct queue *queue = queue_new(CAPACITY);
	struct queue_item item[CAPACITY];

	(void)state;
	/* Its places are used in a circle: three are taken before it is full. */
	for (__u64 id = 1; id <= CAPACITY; id++)
		assert_true(put(queue, id));
	assert_int_equal(queue_take(queue, item, 3, LONG_NS), 3);
	for (__u64 id = CAPACITY + 1; id <= CAPACITY + 3; id++)
		assert_true(put(queue, id));
	assert_false(put(queue, 99));
	assert_int_equal(queue_length(queue), CAPACITY);
	assert_int_equal(queue_take(queue, item, CAPACITY, LONG_NS), CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++) {
		assert_int_equal(item[i].span.span_id, i + 4);
		assert_int_equal(item[i].boot_to_wall_ns, (i + 4) * 10);
	}
	assert_int_equal(queue_length(queue), 0);
	queue_free(queue);
}

#define WAVES  400
#define TRACES 20 /* of a wave: their spans come in turn */
#define SPANS  4
#define ROOM   8192

/* Spans come twice as fast as they are taken: traces are lost as a whole. */
static void lost_by_whole_traces(void **state)
{
	static struct queue_item item[TRACES * SPANS];
	static unsigned int came[WAVES * TRACES];
	struct queue *queue = queue_new(ROOM);
	unsigned int whole = 0, cut = 0, trace;

	(void)state;
	for (unsigned int number = 0; number < WAVES * TRACES * SPANS; number++) {
		struct span span = {};
		__u64 random;

		trace = number / (TRACES * SPANS) * TRACES + number % TRACES;
		random = (trace + 1) * 0x9e3779b97f4a7c15ULL;
		memcpy(span.trace_id, &trace, sizeof(trace));
		memcpy(span.trace_id + 8, &random, sizeof(random));
		came[trace] += queue_put(queue, &span, 0);
		if (number % (TRACES * SPANS) == 0)
			queue_take(queue, item, TRACES * SPANS / 2, SHORT_NS);
	}
	for (trace = WAVES / 2 * TRACES; trace < WAVES * TRACES; trace++) {
		whole += came[trace] == SPANS;
		cut += came[trace] && came[trace] < SPANS;
	}
	assert_in_range(whole, WAVES * TRACES / 8, WAVES * TRACES * 3 / 8);
	assert_in_range(cut, 0, whole / 100);
	while (queue_length(queue))
		queue_take(queue, item, sizeof(item) / sizeof(item[0]), 0);
	sleep(3); /* with room for so long nothing is lost any more */
	for (unsigned int number = 0; number < ROOM / 2; number++) {
		struct span span = {};

		assert_true(queue_put(queue, &span, 0));
	}
	queue_free(queue);
}

/* Every field, and every text at its longest: spans wait in a form of their own. */
static void spans_come_out_as_they_went_in(void **state)
{
	struct queue *queue = queue_new(CAPACITY);
	struct span span;
	struct queue_item item;

	(void)state;
	memset(&span, 'x', sizeof(span));
	span.method[SPAN_METHOD_MAX - 1] = span.path[SPAN_PATH_MAX - 1] = '\0';
	span.route[SPAN_ROUTE_MAX - 1] = span.host[SPAN_HOST_MAX - 1] = '\0';
	span.agent[SPAN_AGENT_MAX - 1] = span.service.attributes[ATTRIBUTES_MAX - 1] = '\0';
	memset(&item, 0, sizeof(item));
	assert_true(queue_put(queue, &span, -7));
	assert_int_equal(queue_take(queue, &item, 1, LONG_NS), 1);
	assert_memory_equal(&item.span, &span, offsetof(struct span, agent) + SPAN_AGENT_MAX);
	assert_int_equal(item.boot_to_wall_ns, -7);
	queue_free(queue);
}

static void few_wait_for_more_no_longer_than_told(void **state)
{
	struct queue *queue = queue_new(CAPACITY);
	struct queue_item item[CAPACITY];
	__u64 begin_ns = clock_now_ns();

	(void)state;
	put(queue, 1);
	assert_int_equal(queue_take(queue, item, CAPACITY, SHORT_NS), 1);
	assert_true(clock_now_ns() - begin_ns >= SHORT_NS);
	assert_true(clock_now_ns() - begin_ns < LONG_NS);
	queue_free(queue);
}

static void *put_all(void *data)
{
	for (__u64 id = 1; id <= CAPACITY; id++)
		put(data, id);
	return NULL;
}

static void a_full_batch_is_taken_at_once(void **state)
{
	struct queue *queue = queue_new(CAPACITY);
	struct queue_item item[CAPACITY];
	__u64 begin_ns = clock_now_ns();
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, put_all, queue);
	assert_int_equal(queue_take(queue, item, CAPACITY, LONG_NS), CAPACITY);
	assert_true(clock_now_ns() - begin_ns < LONG_NS / 2);
	pthread_join(thread, NULL);
	queue_free(queue);
}

static void *close_soon(void *data)
{
	assert_false(queue_wait_closed(data, SHORT_NS));
	queue_close(data);
	return NULL;
}

static void closing_wakes_who_waits(void **state)
{
	struct queue *queue = queue_new(CAPACITY);
	struct queue_item item[CAPACITY];
	__u64 begin_ns = clock_now_ns();
	pthread_t thread;

	(void)state;
	put(queue, 1);
	pthread_create(&thread, NULL, close_soon, queue);
	assert_true(queue_wait_closed(queue, LONG_NS));
	assert_int_equal(queue_take(queue, item, CAPACITY, LONG_NS), 1);
	assert_int_equal(queue_take(queue, item, CAPACITY, LONG_NS), 0);
	assert_false(put(queue, 2));
	assert_true(clock_now_ns() - begin_ns < LONG_NS / 2);
	pthread_join(thread, NULL);
	queue_free(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keeps_the_order_and_drops_the_newest),
	    cmocka_unit_test(lost_by_whole_traces),
	    cmocka_unit_test(spans_come_out_as_they_went_in),
	    cmocka_unit_test(few_wait_for_more_no_longer_than_told),
	    cmocka_unit_test(a_full_batch_is_taken_at_once),
	    cmocka_unit_test(closing_wakes_who_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
