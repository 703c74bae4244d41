// SPDX-License-Identifier: Apache-2.0
/*
 * bench_deep LEVELS
 *
 * Burns CPU, until it is killed, below LEVELS calls of bsearch(3), each of which calls back: two
 * frames a level, one of them in libc, whose unwind table is a large one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int levels_left;

/* By a pointer: the C library's header has a copy of it that compilers put into the caller. */
static void *(*volatile search)(const void *key, const void *base, size_t count, size_t size,
				int (*compare)(const void *, const void *)) = bsearch;

__attribute__((noreturn, noinline)) static void burn(void)
{
	volatile uint32_t x = 1;

	for (;;)
		x = x * 1664525 + 1013904223;
}

/* The barrier keeps the call a call: it would be a jump else, and the caller in no stack. */
__attribute__((noinline)) static int descend(const void *key, const void *element)
{
	if (!levels_left--)
		burn();
	search(key, element, 1, 1, descend);
	__asm__ __volatile__("" ::: "memory");
	return 0;
}

int main(int argc, char **argv)
{
	static const char byte;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_deep LEVELS\n");
		return EXIT_FAILURE;
	}
	levels_left = atoi(argv[1]);
	descend(&byte, &byte); /* it never returns */
	return EXIT_FAILURE;
}
