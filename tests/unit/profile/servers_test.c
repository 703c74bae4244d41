// SPDX-License-Identifier: Apache-2.0
/* Samples of servers: which of them belong to no request, by reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/model.h"
#include "profile/message/servers.h"

static struct servers servers;

static void take(__u8 serves, __u8 span, __u8 veto, int times)
{
	static struct profile_sample sample;

	sample.serves = serves;
	sample.span_id[7] = span;
	sample.veto = veto;
	for (int i = 0; i < times; i++)
		servers_count(&servers, &sample);
}

static int begin(void **state)
{
	(void)state;
	servers = (struct servers){};
	return 0;
}

static void test_counts(void **state)
{
	char text[SERVERS_TEXT_MAX];
	json_t *object, *reasons;

	(void)state;
	take(0, 0, VETO_NONE, 5000); /* no server */
	take(0, 1, VETO_NONE, 5000); /* it works for a request, and reads none */
	take(1, 1, VETO_NONE, 957);
	take(1, 1, VETO_ENDED, 1); /* the engine names none, another source does */
	take(1, 0, VETO_IDLE_LOOP, 29);
	take(1, 0, VETO_NO_EVIDENCE, 9);
	take(1, 0, VETO_ENDED, 3);
	take(1, 0, VETO_NONE, 1);
	assert_int_equal(servers.samples, 1000);
	assert_int_equal(servers_without(&servers), 42);
	assert_string_equal(servers_text(&servers, text),
			    "4.2 % of the samples of servers have no request: other-idle-loop 2.9 "
			    "%, no-evidence 0.9 %, ended 0.3 %");
	object = servers_json(&servers);
	reasons = json_object_get(object, "reasons");
	assert_int_equal(json_integer_value(json_object_get(object, "samples")), 1000);
	assert_int_equal(json_integer_value(json_object_get(object, "without_request")), 42);
	assert_int_equal(json_object_size(reasons), 4);
	assert_int_equal(json_integer_value(json_object_get(reasons, "none-open")), 1);
	json_decref(object);
}

static void test_none(void **state)
{
	char text[SERVERS_TEXT_MAX];

	(void)state;
	assert_null(servers_json(&servers));
	take(1, 1, VETO_NONE, 3);
	assert_string_equal(servers_text(&servers, text),
			    "0.0 % of the samples of servers have no request");
	take(1, 0, VETO_NONE, 1);
	assert_string_equal(servers_text(&servers, text),
			    "25.0 % of the samples of servers have no request: none-open 25.0 %");
}

/* Each reason has a name that leads back to it; what is none is another version's. */
static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < VETO_COUNT; i++)
		assert_int_equal(servers_reason_named(servers_reason(i)), i);
	assert_string_equal(servers_reason(VETO_IDLE_LOOP), "other-idle-loop");
	assert_string_equal(servers_reason(servers_reason_named("never-heard-of")), "other");
	assert_string_equal(servers_reason(servers_reason_named("none")), "other");
	take(1, 0, 255, 1);
	assert_int_equal(servers.without[servers_reason_named("other")], 1);
}

/* The longest line there can be is whole. */
static void test_room(void **state)
{
	char text[SERVERS_TEXT_MAX];

	(void)state;
	for (__u8 i = 0; i < VETO_COUNT; i++) {
		begin(NULL);
		take(1, 0, i, 1);
		take(1, 0, (__u8)((i + 1) % VETO_COUNT), 1);
		take(1, 0, (__u8)((i + 2) % VETO_COUNT), 1);
		servers_text(&servers, text);
		assert_non_null(strstr(text, servers_reason(i)));
		assert_int_equal(text[strlen(text) - 1], '%');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_counts, begin),
	    cmocka_unit_test_setup(test_none, begin),
	    cmocka_unit_test_setup(test_names, begin),
	    cmocka_unit_test_setup(test_room, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
