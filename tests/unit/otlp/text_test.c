// SPDX-License-Identifier: Apache-2.0
/* Texts on their way into messages: UTF-8, and hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "otlp/clean.h"
#include "otlp/host.h"

static void check_clean(const char *text, const char *wanted)
{
	char copy[64];

	strcpy(copy, text);
	otlp_clean(copy);
	assert_string_equal(copy, wanted);
}

static void utf8(void **state)
{
	(void)state;
	check_clean("", "");
	check_clean("/plain?", "/plain?");
	check_clean("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	check_clean("\xed\x9f\xbf\xf4\x8f\xbf\xbf", "\xed\x9f\xbf\xf4\x8f\xbf\xbf");
	check_clean("a\x80z", "a?z");
	check_clean("\xc0\xaf", "??");           /* written too long */
	check_clean("\xe0\x9f\xbf", "???");      /* so is this */
	check_clean("\xed\xa0\x80", "???");      /* a surrogate */
	check_clean("\xf4\x90\x80\x80", "????"); /* above U+10FFFF */
	check_clean("\xf5z", "?z");
	check_clean("\xe2\x82", "??"); /* cut off */
	check_clean("\xf0\x9f\x98", "???");
	check_clean("\xc3(", "?(");
}

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
	const struct CMUnitTest tests[] = {cmocka_unit_test(utf8), cmocka_unit_test(hosts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
