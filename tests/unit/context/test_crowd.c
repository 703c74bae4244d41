// SPDX-License-Identifier: Apache-2.0
/* How the calls of a loop are counted at a time. */
#include <stdlib.h>

#include "steps.h"
#include "context/crowd.h"

#define ADDRESSES 256
#define PORTS     64

static int compare(const void *a, const void *b)
{
	__u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	return (x > y) - (x < y);
}

/* Numbers of many peers that are alike: none is 0, none is another's. */
static void check_numbers(int where)
{
	static __u32 number[ADDRESSES * PORTS];

	for (__u32 i = 0; i < ADDRESSES * PORTS; i++) {
		__u64 address[2] = {};

		/* As the kernel has them: the last byte of an IPv4 address is the highest one. */
		address[where] = 0x0a | (__u64)(i / PORTS) << 24;
		number[i] = crowd_peer_number(address, __builtin_bswap16(8000 + i % PORTS));
		assert_int_not_equal(number[i], 0);
	}
	qsort(number, (size_t)ADDRESSES * PORTS, sizeof(number[0]), compare);
	for (__u32 i = 1; i < ADDRESSES * PORTS; i++)
		assert_int_not_equal(number[i], number[i - 1]);
}

static void peers_have_numbers_of_their_own(void **state)
{
	(void)state;
	check_numbers(0);
	check_numbers(1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(peers_have_numbers_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
