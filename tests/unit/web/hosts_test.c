// SPDX-License-Identifier: Apache-2.0
/* Which Host fields are answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "web/hosts.h"

static struct web_hosts hosts_of(const char *name)
{
	struct web_hosts hosts = {};

	assert_int_equal(web_hosts_add(&hosts, name), 0);
	return hosts;
}

static void own_names_are_answered(void **state)
{
	static const char *const good[] = {"localhost",   "LOCALHOST:9464", "127.0.0.1",
					   "10.0.0.7:80", "[::1]",          "[fd00::7]:9464",
					   "a.example",   "A.Example:1"};
	const struct web_hosts hosts = hosts_of("a.example");

	(void)state;
	assert_true(web_hosts_allow(&hosts, NULL));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!web_hosts_allow(&hosts, good[i]))
			fail_msg("%s is refused", good[i]);
}

static void others_are_not(void **state)
{
	static const char *const bad[] = {"",
					  "evil.example",
					  "a.example.evil",
					  "xa.example",
					  "localhost.evil",
					  "127.1",
					  "0x7f000001",
					  "127.0.0.1.evil",
					  "[a.example]",
					  "[localhost]",
					  "a.exampl",
					  ":80",
					  "::1",
					  "[127.0.0.1]",
					  "localhost.:80 "};
	const struct web_hosts hosts = hosts_of("a.example");
	char lengthy[1000];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (web_hosts_allow(&hosts, bad[i]))
			fail_msg("%s is answered", bad[i]);
	memset(lengthy, 'a', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_false(web_hosts_allow(&hosts, lengthy));
}

static void there_is_an_end(void **state)
{
	struct web_hosts hosts = {};

	(void)state;
	for (int i = 0; i < WEB_HOSTS_MAX; i++)
		assert_int_equal(web_hosts_add(&hosts, "a"), 0);
	assert_true(web_hosts_add(&hosts, "b") < 0);
	assert_false(web_hosts_allow(&hosts, "b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(own_names_are_answered),
	    cmocka_unit_test(others_are_not),
	    cmocka_unit_test(there_is_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
