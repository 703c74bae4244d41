// SPDX-License-Identifier: Apache-2.0
#include "trace/histogram.h"

#define UNIT_BITS 10 /* the smallest difference: 1.024 us */
#define STEP_BITS 3  /* buckets for each doubling */
#define STEPS     (1U << STEP_BITS)
#define PAIR      5 /* bytes of a bucket in a blob */

static unsigned int bucket_of(__u64 ns)
{
	__u64 value = ns >> UNIT_BITS;
	unsigned int exponent, bucket;

	if (value < STEPS)
		return (unsigned int)value;
	exponent = 63U - (unsigned int)__builtin_clzll(value) - STEP_BITS;
	bucket = (exponent + 1) * STEPS + (unsigned int)(value >> exponent & (STEPS - 1));
	return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

/* Where a bucket begins, in ns. */
static double begin_of(unsigned int bucket)
{
	unsigned int exponent = bucket / STEPS;
	__u64 value = bucket;

	if (exponent)
		value = (__u64)(STEPS + bucket % STEPS) << (exponent - 1);
	return (double)(value << UNIT_BITS);
}

void histogram_add(struct histogram *histogram, __u64 ns)
{
	histogram->count[bucket_of(ns)]++;
	histogram->total++;
}

/* The bucket of a percentile, and how many are in those below. HISTOGRAM_BUCKETS: there are none.
 */
static unsigned int find(const struct histogram *histogram, double wanted, double *ret_below)
{
	double below = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		double here = histogram->count[i];

		*ret_below = below;
		if (here > 0 && below + here >= wanted)
			return i;
		below += here;
	}
	return HISTOGRAM_BUCKETS;
}

__u64 histogram_percentile(const struct histogram *histogram, double percent)
{
	double wanted = (double)histogram->total * percent / 100, below, begin;
	unsigned int bucket = find(histogram, wanted, &below);

	if (bucket == HISTOGRAM_BUCKETS)
		return 0;
	begin = begin_of(bucket);
	return (__u64)(begin + (begin_of(bucket + 1) - begin) * (wanted - below) /
				   histogram->count[bucket]);
}

__u64 histogram_above(const struct histogram *histogram, double percent)
{
	double below;
	unsigned int bucket = find(histogram, (double)histogram->total * percent / 100, &below);

	return bucket == HISTOGRAM_BUCKETS ? 0 : (__u64)begin_of(bucket + 1);
}

size_t histogram_pack(const struct histogram *histogram, __u8 ret_blob[HISTOGRAM_BLOB_MAX])
{
	size_t size = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!histogram->count[i])
			continue;
		ret_blob[size++] = (__u8)i;
		for (unsigned int byte = 0; byte < 4; byte++)
			ret_blob[size++] = (__u8)(histogram->count[i] >> (8 * byte));
	}
	return size;
}

void histogram_unpack(struct histogram *histogram, const void *blob, size_t size)
{
	const __u8 *bytes = blob;

	for (size_t at = 0; at + PAIR <= size; at += PAIR) {
		const __u8 *pair = bytes + at;
		__u32 count = (__u32)pair[1] | (__u32)pair[2] << 8 | (__u32)pair[3] << 16 |
			      (__u32)pair[4] << 24;

		histogram->count[pair[0]] += count;
		histogram->total += count;
	}
}
