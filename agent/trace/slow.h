/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which requests are slow: those that take longer than 99 in a hundred of their endpoint (service,
 * side, method and route) did in this minute and in the last one. Nothing is slow of an endpoint
 * with fewer than 100 requests in either.
 */
#ifndef CTXPROP_SLOW_H
#define CTXPROP_SLOW_H

#include "trace/span.h"

/*
 * The most endpoints that are watched, which owners share (shares.h); requests of others are never
 * slow.
 */
#define SLOW_ENDPOINTS_MAX 1024

struct slow;

/* NULL: no memory. */
struct slow *slow_new(void);
void slow_free(struct slow *slow);

/* Is the request of this span slow compared with those before it? It is counted afterwards. */
bool slow_judge(struct slow *slow, const struct span *span);

#endif
