// SPDX-License-Identifier: Apache-2.0
/* Addresses to listen at, as users type them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "web/listen.h"

static void addresses_are_read(void **state)
{
	struct web_address address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address.address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address.address;

	(void)state;
	assert_int_equal(web_address_parse("127.0.0.1:9464", &address), 0);
	assert_int_equal(four->sin_family, AF_INET);
	assert_int_equal(ntohs(four->sin_port), 9464);
	assert_int_equal(ntohl(four->sin_addr.s_addr), INADDR_LOOPBACK);
	assert_int_equal(web_address_parse("[127.0.0.1]:80", &address), 0);
	assert_int_equal(four->sin_family, AF_INET);
	assert_int_equal(web_address_parse("[::1]:65535", &address), 0);
	assert_int_equal(six->sin6_family, AF_INET6);
	assert_int_equal(ntohs(six->sin6_port), 65535);
	assert_memory_equal(&six->sin6_addr, &in6addr_loopback, sizeof(in6addr_loopback));
}

static void others_are_refused(void **state)
{
	static const char *const bad[] = {"",
					  ":9464",
					  "9464",
					  "127.0.0.1",
					  "127.0.0.1:",
					  "127.0.0.1:0",
					  "127.0.0.1:65536",
					  "localhost:80",
					  "::1:9464",
					  "[::1]",
					  "[::1:9464",
					  "[127.0.0.1:80",
					  "[]:80",
					  "1.2.3:80",
					  "127.0.0.1:80x"};
	struct web_address address;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!web_address_parse(bad[i], &address))
			fail_msg("%s is taken", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(addresses_are_read),
	    cmocka_unit_test(others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
