// SPDX-License-Identifier: Apache-2.0
/* Messages that are put together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "made_message.h"
#include "profile/message/merge.h"

#define A "endpoint=GET /a;latency_ms=12"
#define B "endpoint=GET /b"

/* As they are read of a file of it. */
static void expect_lines(const struct message *message, const char *wanted)
{
	struct message again = made_again(message);
	char *lines = made_lines(&again);

	assert_string_equal(lines, wanted);
	free(lines);
	message_free(&again);
}

static void merge(struct message *into, const struct message *from)
{
	assert_int_equal(message_merge(into, from), 0);
}

static struct message first(void)
{
	struct message message = made_message(10, false);

	made_sample(&message, "main;work", A, 2, 0);
	made_sample(&message, "main;idle", B, 1, 0);
	message.profile->time_nanos = 2000;
	message.profile->duration_nanos = 60;
	made_comment(&message, "#requests\t5\tshop\tGET /a");
	made_comment(&message, "#lost\t3");
	made_comment(&message, "of another program");
	return message;
}

/* Texts and functions stand elsewhere, labels in another order. */
static struct message second(void)
{
	struct message message = made_message(10, false);

	made_sample(&message, "start", B, 4, 0);
	made_sample(&message, "main;idle", B, 7, 0);
	made_sample(&message, "main;work", "latency_ms=12;endpoint=GET /a", 3, 0);
	message.profile->time_nanos = 1000;
	message.profile->duration_nanos = 40;
	made_comment(&message, "of another program");
	made_comment(&message, "#requests\t7\tshop\tGET /a");
	made_comment(&message, "#requests\t1\tshop\tGET /b");
	return message;
}

static struct message third(void)
{
	struct message message = made_message(10, true);

	made_sample(&message, "main;work", A, 1, 0);
	made_sample(&message, "main;work", "endpoint=GET /a;wait=blocked", 0, 500);
	return message;
}

static const char sums[] = "main;idle endpoint=GET /b 8 80\n"
			   "main;work endpoint=GET /a latency_ms=12 5 50\n"
			   "start endpoint=GET /b 4 40\n";

static void adds_up(void **state)
{
	struct message one = first(), other = second();

	(void)state;
	merge(&one, &other);
	expect_lines(&one, sums);
	assert_int_equal(one.profile->time_nanos, 1000);
	assert_int_equal(one.profile->duration_nanos, 100);
	assert_int_equal(one.profile->period, 10);
	assert_int_equal(one.profile->n_function, 4);
	assert_int_equal(one.profile->n_location, 4);
	message_free(&one);
	message_free(&other);
}

static bool has_comment(const struct message *message, const char *text)
{
	size_t found = 0;

	for (size_t i = 0; i < message->profile->n_comment; i++)
		found += !strcmp(message_text(message, message->profile->comment[i]), text);
	return found == 1;
}

static void adds_counts(void **state)
{
	struct message one = first(), other = second();

	(void)state;
	merge(&one, &other);
	merge(&one, &other);
	assert_int_equal(one.profile->n_comment, 4);
	assert_true(has_comment(&one, "#requests\t19\tshop\tGET /a"));
	assert_true(has_comment(&one, "#requests\t2\tshop\tGET /b"));
	assert_true(has_comment(&one, "#lost\t3"));
	assert_true(has_comment(&one, "of another program"));
	message_free(&one);
	message_free(&other);
}

/* (a + b) + c and a + (b + c), begun anew, so that texts have the same order. */
static void is_associative(void **state)
{
	struct message left = first(), b = second(), c = third(), right = second(), a = first();
	char *lines;

	(void)state;
	merge(&left, &b);
	merge(&left, &c);
	merge(&right, &c);
	merge(&a, &right);
	lines = made_lines(&left);
	expect_lines(&a, lines);
	assert_int_equal(left.profile->n_sample, 4);
	free(lines);
	message_free(&left);
	message_free(&right);
	message_free(&a);
	message_free(&b);
	message_free(&c);
}

/* What one of them does not count is 0. */
static void unites_types(void **state)
{
	struct message one = first(), other = third();

	(void)state;
	merge(&one, &other);
	assert_int_equal(one.profile->n_sample_type, 3);
	expect_lines(&one, "main;idle endpoint=GET /b 1 10 0\n"
			   "main;work endpoint=GET /a latency_ms=12 3 30 0\n"
			   "main;work endpoint=GET /a wait=blocked 0 0 500\n");
	message_free(&one);
	message_free(&other);
	one = third();
	other = first();
	merge(&one, &other);
	expect_lines(&one, "main;idle endpoint=GET /b 1 10 0\n"
			   "main;work endpoint=GET /a latency_ms=12 3 30 0\n"
			   "main;work endpoint=GET /a wait=blocked 0 0 500\n");
	message_free(&one);
	message_free(&other);
}

/* Time on the CPU stays right, whatever a sample stands for. */
static void differing_periods(void **state)
{
	struct message one = made_message(10, false), other = made_message(50, false);

	(void)state;
	made_sample(&one, "main", B, 5, 0);
	made_sample(&other, "main", B, 2, 0);
	merge(&one, &other);
	expect_lines(&one, "main endpoint=GET /b 7 150\n");
	assert_int_equal(one.profile->period, 50);
	message_free(&one);
	message_free(&other);
}

static void takes_empty_ones(void **state)
{
	struct message nothing = {}, empty = made_message(10, false), one = first();

	(void)state;
	merge(&nothing, &empty);
	assert_int_equal(nothing.profile->n_sample, 0);
	merge(&nothing, &one);
	expect_lines(&nothing, "main;idle endpoint=GET /b 1 10\n"
			       "main;work endpoint=GET /a latency_ms=12 2 20\n");
	merge(&one, &empty);
	expect_lines(&one, "main;idle endpoint=GET /b 1 10\n"
			   "main;work endpoint=GET /a latency_ms=12 2 20\n");
	message_free(&nothing);
	message_free(&empty);
	message_free(&one);
}

/* Samples without a stack or a label are some, too; equal ones of one message are added up. */
static void takes_bare_ones(void **state)
{
	struct message one = made_message(10, false), other = made_message(10, false);

	(void)state;
	made_sample(&other, "", "", 2, 0);
	made_sample(&other, "main", "", 1, 0);
	made_sample(&other, "main", "", 1, 0);
	made_sample(&other, "", "pid=1", 1, 0);
	merge(&one, &other);
	expect_lines(&one, " 2 20\n pid=1 1 10\nmain 2 20\n");
	message_free(&one);
	message_free(&other);
}

static void refuses_too_much(void **state)
{
	struct message one = first(), other = second(), many = first();
	int64_t *value = other.profile->sample[0]->value;

	(void)state;
	value[0] = LLONG_MAX - 160;
	assert_int_equal(message_merge(&one, &other), -EOVERFLOW);
	expect_lines(&one, "main;idle endpoint=GET /b 1 10\n"
			   "main;work endpoint=GET /a latency_ms=12 2 20\n");
	many.profile->n_sample_type = 1000;
	assert_int_equal(message_merge(&one, &many), -EOVERFLOW);
	many.profile->n_sample_type = 2;
	one.profile->duration_nanos = LLONG_MAX;
	merge(&one, &many);
	assert_true(one.profile->duration_nanos == LLONG_MAX);
	message_free(&one);
	message_free(&other);
	message_free(&many);
}

/* More than any table has room for at first. */
static void grows(void **state)
{
	struct message sum = {}, again;
	int64_t count = 0;

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct message one = made_message(10, i % 2);

		for (int k = 0; k < 50; k++) {
			char name[32];

			snprintf(name, sizeof(name), "f%d;f%d", k, (i * k) % 50);
			made_sample(&one, name, k % 2 ? A : B, 1, 0);
		}
		merge(&sum, &one);
		message_free(&one);
	}
	again = made_again(&sum);
	for (size_t i = 0; i < again.profile->n_sample; i++)
		count += again.profile->sample[i]->value[0];
	assert_int_equal(count, 40 * 50);
	assert_true(again.profile->n_sample > 64);
	assert_true(again.profile->n_function <= 50);
	message_free(&again);
	message_free(&sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(adds_up),
	    cmocka_unit_test(adds_counts),
	    cmocka_unit_test(is_associative),
	    cmocka_unit_test(unites_types),
	    cmocka_unit_test(differing_periods),
	    cmocka_unit_test(takes_empty_ones),
	    cmocka_unit_test(takes_bare_ones),
	    cmocka_unit_test(refuses_too_much),
	    cmocka_unit_test(grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
