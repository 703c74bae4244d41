/* SPDX-License-Identifier: Apache-2.0 */
/* What /metrics tells (docs/api.md). */
#ifndef CTXPROP_METRICS_PAGE_H
#define CTXPROP_METRICS_PAGE_H

#include "profile/keep/recorder_counts.h"
#include "trace/metrics.h"
#include "trace/tracer.h"
#include "web/exposition.h"

struct metrics_sources {
	struct metrics *metrics;                /* of spans; NULL: none are made */
	struct tracer *tracer;                  /* that makes them, or NULL */
	const struct recorder_counts *recorded; /* of a continuous profile; NULL: there is none */
	int counters_fd, flows_fd;
	__u64 (*longest_turn_ns)(void); /* of the daemon's loop; asked by any thread */
};

/* Write all of it; what cannot be read is left out. */
void metrics_page(const struct metrics_sources *sources, const struct exposition *exposition);

#endif
