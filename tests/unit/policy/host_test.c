// SPDX-License-Identifier: Apache-2.0
/* The Host field of a head. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "image.h"
#include "policy_host.h"

/* Two fields, none, one that does not end here, names with more domains than are looked at. */
static void test_host_fields(void **state)
{
	static const struct {
		const char *head;
		__u32 fields, ends, domains;
	} cases[] = {
	    {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 2, 1, 0},
	    {"GET / HTTP/1.1\nhost: a.b\n", 1, 1, 1},
	    {"Host: a\r\nX: y\r\n", 0, 0, 0},
	    {"GET / HTTP/1.1\r\nHost: a.b", 1, 0, 0},
	    {"GET / HTTP/1.1\r\nHos", 0, 0, 0},
	    {"GET / HTTP/1.1\r\nHost:\r\n", 1, 1, 0},
	    {"GET / HTTP/1.1\r\nHost: 1.2.3.4.5.6.7.8.9.10:1\r\n", 1, 1, POLICY_DOMAINS_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		__u8 window[POLICY_HEAD_MAX + 8] = {};
		__u64 numbers[POLICY_NESTED_MAX];
		struct policy_host h;

		strcpy((char *)window, cases[i].head);
		policy_host_begin(&h, (__u32)strlen(cases[i].head));
		while (!policy_host_find(&h, window))
			;
		assert_int_equal(h.fields, cases[i].fields);
		while (h.fields && !policy_host_measure(&h, window))
			;
		assert_int_equal(h.ends, cases[i].ends);
		if (!h.ends)
			continue;
		policy_host_measured(&h, window);
		while (!policy_host_take(&h, window))
			;
		policy_host_nested(&h, numbers);
		assert_int_equal(h.domains, cases[i].domains);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_host_fields)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
