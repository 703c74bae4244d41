// SPDX-License-Identifier: Apache-2.0
/* Chosen connections of HTTP/2, cut anywhere: what the automaton says of them is true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "check.h"
#include "random.h"

#define CHOICES 4096

static unsigned connections(void)
{
	const char *said = getenv("HTTP2_CONNECTIONS");

	return said ? strtoul(said, NULL, 10) : 3000;
}

static void test_property(void **state)
{
	static struct connection c;
	static uint8_t bytes[CHOICES];
	struct random random = {20};

	(void)state;
	for (unsigned n = 0; n < connections(); n++) {
		struct choices choices = {.bytes = bytes, .len = random_in(&random, 64, CHOICES)};
		struct choices cuts = {.bytes = bytes, .len = CHOICES};
		const char *wrong;

		for (size_t i = 0; i < CHOICES; i++)
			bytes[i] = random_next(&random);
		connection_make(&c, &choices);
		cuts.next = n % 7;
		wrong = check_connection(&c, &cuts);
		if (wrong)
			fail_msg("connection %u: %s", n, wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_property)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
