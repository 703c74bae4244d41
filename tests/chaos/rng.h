/* SPDX-License-Identifier: Apache-2.0 */
/* A small deterministic generator (splitmix64): the same seed gives the same run. */
#ifndef CHAOS_RNG_H
#define CHAOS_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

/* Next 64 random bits. */
static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = (rng->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A number in [0, limit); 0 when limit is 0. */
static inline uint64_t rng_below(struct rng *rng, uint64_t limit)
{
	return limit ? rng_next(rng) % limit : 0;
}

/* A number in [low, high]. */
static inline uint64_t rng_between(struct rng *rng, uint64_t low, uint64_t high)
{
	return low + rng_below(rng, high - low + 1);
}

/* True in `percent` of the calls; fractions of a percent count. */
static inline bool rng_percent(struct rng *rng, double percent)
{
	return (double)(rng_next(rng) >> 11) < percent / 100.0 * 9007199254740992.0;
}

/* A generator for item `item` of the run with this seed, independent of its neighbours. */
static inline struct rng rng_for(uint64_t seed, uint64_t item)
{
	struct rng rng = {seed};

	rng.state = rng_next(&rng) ^ (item * 0xd1342543de82ef95ull);
	rng.state = rng_next(&rng);
	return rng;
}

#endif
