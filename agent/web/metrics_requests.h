/* SPDX-License-Identifier: Apache-2.0 */
/* The histograms of requests, as OpenTelemetry's conventions name them. */
#ifndef CTXPROP_METRICS_REQUESTS_H
#define CTXPROP_METRICS_REQUESTS_H

#include "trace/metrics.h"
#include "web/exposition.h"

void metrics_requests(struct metrics *metrics, const struct exposition *exposition);

#endif
