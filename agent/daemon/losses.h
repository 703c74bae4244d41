/* SPDX-License-Identifier: Apache-2.0 */
/* Collects all counts of spans that this daemon loses, and reports them. */
#ifndef CTXPROP_DAEMON_LOSSES_H
#define CTXPROP_DAEMON_LOSSES_H

#include "otlp/loss_log.h"
#include "trace/tracer.h"

/* Where losses are counted. */
struct losses_source {
	struct tracer *tracer;
	int counters_fd; /* of the packet programs */
	struct loss_log *log;
};

/*
 * Report what is lost from now on to the receiver of spans. `source` must stay valid. If it cannot
 * be reported, that is logged.
 */
void losses_begin(struct losses_source *source, const struct otlp_options *receiver);
void losses_end(struct losses_source *source);

#endif
