/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_BENCH_HISTOGRAM_H
#define CTXPROP_BENCH_HISTOGRAM_H

#include <stdint.h>

/* 32 buckets per power of two: a quantile is off by at most 1/32, and adding costs no division. */
#define HISTOGRAM_SUB_BITS 5
#define HISTOGRAM_SUB      (1u << HISTOGRAM_SUB_BITS)
#define HISTOGRAM_BUCKETS  (64 * HISTOGRAM_SUB)

struct histogram {
	uint64_t total;
	uint64_t count[HISTOGRAM_BUCKETS];
};

/* Count one value. */
void histogram_add(struct histogram *h, uint64_t value);

/* The smallest bucket value that `quantile` (0..1) of the counted values do not exceed; 0 if empty.
 */
uint64_t histogram_quantile(const struct histogram *h, double quantile);

#endif
