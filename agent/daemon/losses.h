/* SPDX-License-Identifier: Apache-2.0 */
/* All that this daemon loses of spans, and who is told of it. */
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
 * Tell the receiver of spans what is lost from now on. `source` has to stay where it is. That it
 * cannot be told is logged.
 */
void losses_begin(struct losses_source *source, const struct otlp_options *receiver);
void losses_end(struct losses_source *source);

#endif
