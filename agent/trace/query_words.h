/* SPDX-License-Identifier: Apache-2.0 */
/* What people write when they ask for traces. */
#ifndef CTXPROP_QUERY_WORDS_H
#define CTXPROP_QUERY_WORDS_H

#include "trace/query.h"

/* A time: 100ms, 1.5s, 5m, 7d; a number without a unit is seconds. 0 or -EINVAL. */
int query_parse_time(const char *text, __u64 *ret_ns);

/* A status, or a class of them: 503, 5xx. 0 or -EINVAL. */
int query_parse_status(const char *text, struct query_filter *ret_filter);

/* The clock by which spans begin (CLOCK_REALTIME), in ns. */
__s64 query_now_ns(void);

#endif
