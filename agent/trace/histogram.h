/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations in buckets that grow with them, eight for each doubling: what is read from it is wrong
 * by 6 % at most. In the store it is a blob of five bytes for each bucket that is not empty: its
 * number, and its count, the low byte first.
 */
#ifndef CTXPROP_HISTOGRAM_H
#define CTXPROP_HISTOGRAM_H

#include <stddef.h>
#include <linux/types.h>

#define HISTOGRAM_BUCKETS  256
#define HISTOGRAM_BLOB_MAX (5 * HISTOGRAM_BUCKETS)

struct histogram {
	__u32 count[HISTOGRAM_BUCKETS];
	__u64 total; /* of all buckets */
};

/* One more duration. */
void histogram_add(struct histogram *histogram, __u64 ns);

/* The percentile, in ns; 0: nothing was added. */
__u64 histogram_percentile(const struct histogram *histogram, double percent);

/* Durations from this on, in ns, are above that percentile: the end of its bucket. */
__u64 histogram_above(const struct histogram *histogram, double percent);

/* Write the blob; returns its size. */
size_t histogram_pack(const struct histogram *histogram, __u8 ret_blob[HISTOGRAM_BLOB_MAX]);

/* Add what a blob holds; bytes that are no bucket are ignored. */
void histogram_unpack(struct histogram *histogram, const void *blob, size_t size);

#endif
