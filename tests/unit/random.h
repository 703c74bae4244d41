/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatable random numbers for tests: SplitMix64, a bijection of a counter. */
#ifndef CTXPROP_TEST_RANDOM_H
#define CTXPROP_TEST_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state; /* the seed, at first */
};

static inline uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* A number in [from, to]. */
static inline uint32_t random_in(struct random *r, uint32_t from, uint32_t to)
{
	return from + random_next(r) % ((uint64_t)to - from + 1);
}

/* True once in `n` times. */
static inline int random_once_in(struct random *r, uint32_t n)
{
	return random_next(r) % n == 0;
}

#endif
