// SPDX-License-Identifier: Apache-2.0
/* Hosts, as messages have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "otlp/host.h"

static void check_host(const char *host, const char *name, unsigned int port)
{
	char split[32];
	unsigned int number = 0;

	if (host_split(host, split, sizeof(split), &number))
		fail_msg("%s is refused", host);
	assert_string_equal(split, name);
	assert_int_equal(number, port);
}

static void hosts(void **state)
{
	static const char *const none[] = {"",       ":80", "[]",  "[::1",
					   "[::1]x", "a:b", "a:0", "a:65536"};
	char name[8] = "kept";
	unsigned int port = 7;

	(void)state;
	check_host("example.com", "example.com", 80);
	check_host("example.com:8080", "example.com", 8080);
	check_host("example.com:", "example.com", 80);
	check_host("[::1]", "::1", 80);
	check_host("[fd00::1]:65535", "fd00::1", 65535);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (host_split(none[i], name, sizeof(name), &port) != -EINVAL)
			fail_msg("%s is taken", none[i]);
	assert_string_equal(name, "kept");
	assert_int_equal(port, 7);
	assert_int_equal(host_split("example.com", name, sizeof(name), &port), 0);
	assert_string_equal(name, "example");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(hosts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
