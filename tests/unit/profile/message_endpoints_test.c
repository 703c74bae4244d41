// SPDX-License-Identifier: Apache-2.0
/* What messages say of endpoints, and the comments that say how many requests these had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "made_message.h"
#include "profile/message/counts.h"
#include "profile/message/endpoints.h"

#define SHOP "service=shop;endpoint="

static void counts_by_endpoint(void **state)
{
	struct message message = made_message(10, true);
	struct message_endpoints found;
	const struct message_endpoint *one;

	(void)state;
	made_sample(&message, "main;work", SHOP "GET /a;latency_bucket=p50", 3, 0);
	made_sample(&message, "main;other", SHOP "GET /a;latency_bucket=p99", 2, 0);
	made_sample(&message, "main", SHOP "GET /a;wait=blocked", 0, 700);
	made_sample(&message, "main", SHOP "GET /a;wait=run queue", 0, 70);
	made_sample(&message, "main", SHOP "GET /b", 9, 0);
	made_sample(&message, "main", "service=other;endpoint=GET /a", 1, 0);
	made_comment(&message, "#requests\t50\tshop\tGET /a");
	made_comment(&message, "#requests\t2\tshop\tGET /a");
	made_comment(&message, "#requests\t4\tshop\tGET /idle");
	made_comment(&message, "#lost\t6");
	assert_int_equal(message_endpoints(&message, &found), 0);
	assert_int_equal(found.count, 4);
	assert_int_equal(found.lost, 6);
	one = &found.endpoint[0];
	assert_string_equal(one->name, "GET /b");
	assert_int_equal(one->cpu_ns, 90);
	assert_int_equal(one->requests, 0);
	one = &found.endpoint[1];
	assert_string_equal(one->service, "shop");
	assert_string_equal(one->name, "GET /a");
	assert_int_equal(one->requests, 52);
	assert_int_equal(one->samples, 5);
	assert_int_equal(one->cpu_ns, 50);
	assert_int_equal(one->waited_ns[PROFILE_BLOCKED], 700);
	assert_int_equal(one->waited_ns[PROFILE_RUN_QUEUE], 70);
	assert_int_equal(one->bucket_ns[LATENCY_P50], 30);
	assert_int_equal(one->bucket_ns[LATENCY_P99], 20);
	one = &found.endpoint[2];
	assert_string_equal(one->service, "other");
	assert_int_equal(one->requests, 0);
	one = &found.endpoint[3];
	assert_string_equal(one->name, "GET /idle");
	assert_int_equal(one->requests, 4);
	assert_int_equal(one->samples, 0);
	assert_true(message_has_endpoints(&message) && message_has_waits(&message));
	message_endpoints_free(&found);
	message_free(&message);
}

/* What belongs to no request stands behind all endpoints; what the servers' samples tell is summed.
 */
static void puts_requests_first(void **state)
{
	struct message message = made_message(10, false), requests;
	struct message_endpoints found;

	(void)state;
	made_sample(&message, "main", "endpoint=(no request);no_request=ended", 90, 0);
	assert_false(message_is_mixed(&message));
	made_sample(&message, "main", SHOP "GET /a", 5, 0);
	made_sample(&message, "main", "endpoint=(request not known)", 7, 0);
	made_comment(&message, "#servers\t100");
	made_comment(&message, "#no_request\t90\tended");
	made_comment(&message, "#servers\t10");
	assert_int_equal(message_endpoints(&message, &found), 0);
	assert_int_equal(found.count, 3);
	assert_string_equal(found.endpoint[0].name, "(request not known)");
	assert_string_equal(found.endpoint[1].name, "GET /a");
	assert_string_equal(found.endpoint[2].name, ENDPOINT_NONE);
	assert_int_equal(found.servers.samples, 110);
	assert_int_equal(found.servers.without[servers_reason_named("ended")], 90);
	assert_true(message_is_mixed(&message));
	assert_int_equal(message_requests(&message, &requests), 0);
	assert_int_equal(requests.profile->n_sample, 2);
	message_endpoints_free(&found);
	message_free(&message);
}

/* Comments hold no control characters, so that those of an endpoint's name do not part it. */
static void joins_odd_names(void **state)
{
	struct message message = made_message(10, false);
	struct message_endpoints found;
	char *of = count_of("a\tshop", "GET /\n\t\x7f"), *text;

	(void)state;
	assert_string_equal(of, "a shop\tGET /   ");
	text = count_text(&(struct count){COUNT_REQUESTS, 3, of});
	assert_string_equal(text, "#requests\t3\ta shop\tGET /   ");
	made_sample(&message, "main", "service=a\tshop;endpoint=GET /\n\t\x7f", 1, 0);
	made_comment(&message, text);
	assert_int_equal(message_endpoints(&message, &found), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.endpoint[0].requests, 3);
	assert_int_equal(found.endpoint[0].samples, 1);
	message_endpoints_free(&found);
	message_free(&message);
	free(text);
	free(of);
}

static void parses(void **state)
{
	static const char *const others[] = {"",
					     "requests\t1\ta\tb",
					     "#requests",
					     "#requests\t",
					     "#requests\t-1\ta\tb",
					     "#requests\tx\ta\tb",
					     "#requests\t1x\ta\tb",
					     "#requests\t1",
					     "#requests\t1\tno endpoint",
					     "#lost\t",
					     "#servers\t",
					     "#servers\t1\ta\tb",
					     "#no_request\tended\t1",
					     "#lost\t1\ta\tb"};
	struct count count;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(count_parse(others[i], &count), -EINVAL);
	assert_int_equal(count_parse("#lost\t7", &count), 0);
	assert_int_equal(count.kind, COUNT_LOST);
	assert_int_equal(count.count, 7);
	assert_string_equal(count.of, "");
	assert_int_equal(count_parse("#no_request\t5\tended", &count), 0);
	assert_int_equal(count.kind, COUNT_NO_REQUEST);
	assert_string_equal(count.of, "ended");
	assert_int_equal(count_parse("#requests\t0\t\t", &count), 0);
	assert_string_equal(count.of, "\t");
	assert_int_equal(count_parse("#requests\t99999999999999999999999\ta\tb", &count), 0);
	assert_true(count.count == COUNTS_MAX);
	assert_true(count_add(COUNTS_MAX, COUNTS_MAX) == COUNTS_MAX);
	assert_int_equal(count_add(2, 3), 5);
}

static bool keeps_b(const char *of, const void *data)
{
	(void)data;
	return !strcmp(of, "shop\tGET /b");
}

static void leaves_counts_out(void **state)
{
	struct message message = made_message(10, false);
	struct message_endpoints found;

	(void)state;
	made_comment(&message, "#requests\t5\tshop\tGET /a");
	made_comment(&message, "#lost\t2");
	made_comment(&message, "#requests\t6\tshop\tGET /b");
	made_comment(&message, "else");
	counts_keep(&message, keeps_b, NULL);
	assert_int_equal(message.profile->n_comment, 3);
	assert_int_equal(message_endpoints(&message, &found), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.endpoint[0].requests, 6);
	assert_int_equal(found.lost, 2);
	message_endpoints_free(&found);
	message_free(&message);
}

/* Other programs' profiles name no endpoints, or count something else. */
static void knows_others(void **state)
{
	struct message message = made_message(10, false);

	(void)state;
	made_sample(&message, "main", "", 1, 0);
	assert_false(message_has_endpoints(&message) || message_has_waits(&message));
	made_sample(&message, "main", "endpoint=GET /a", 1, 0);
	assert_true(message_has_endpoints(&message));
	message.profile->sample_type[1]->unit = message_add_text(&message, "bytes");
	assert_false(message_has_endpoints(&message));
	message_free(&message);
}

/* More of them than there is room for at first. */
static void takes_many(void **state)
{
	struct message message = made_message(10, false);
	struct message_endpoints found;
	char name[32];

	(void)state;
	for (int i = 0; i < MADE_MAX; i++) {
		snprintf(name, sizeof(name), "endpoint=GET /%c%d", 'a' + i % 2, i);
		made_sample(&message, "main", name, i + 1, 0);
		snprintf(name, sizeof(name), "#requests\t%d\t\tGET /more%d", i + 1, i);
		made_comment(&message, name);
	}
	assert_int_equal(message_endpoints(&message, &found), 0);
	assert_int_equal(found.count, 2 * MADE_MAX);
	for (int i = 0; i < MADE_MAX; i++)
		assert_int_equal(found.endpoint[i].samples, MADE_MAX - i);
	message_endpoints_free(&found);
	message_free(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_by_endpoint), cmocka_unit_test(puts_requests_first),
	    cmocka_unit_test(joins_odd_names),    cmocka_unit_test(parses),
	    cmocka_unit_test(leaves_counts_out),  cmocka_unit_test(knows_others),
	    cmocka_unit_test(takes_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
