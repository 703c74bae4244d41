// SPDX-License-Identifier: Apache-2.0
#include "histogram.h"

static unsigned bucket_of(uint64_t value)
{
	unsigned power;

	if (value < HISTOGRAM_SUB)
		return value;
	power = 63 - __builtin_clzll(value);
	return (power - HISTOGRAM_SUB_BITS + 1) * HISTOGRAM_SUB +
	       ((value >> (power - HISTOGRAM_SUB_BITS)) & (HISTOGRAM_SUB - 1));
}

static uint64_t value_of(unsigned bucket)
{
	unsigned power = bucket / HISTOGRAM_SUB;

	if (power == 0)
		return bucket;
	return (uint64_t)(HISTOGRAM_SUB + bucket % HISTOGRAM_SUB) << (power - 1);
}

void histogram_add(struct histogram *h, uint64_t value)
{
	h->count[bucket_of(value)]++;
	h->total++;
}

uint64_t histogram_quantile(const struct histogram *h, double quantile)
{
	uint64_t below = 0, wanted = (uint64_t)((double)h->total * quantile);

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		below += h->count[i];
		if (below > wanted)
			return value_of(i);
	}
	return 0;
}
