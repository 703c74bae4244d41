/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a receiver of OTLP/HTTP what was lost, as log records at /v1/logs, in a thread of its own:
 * when a count grows, and of each reason once a minute at most.
 */
#ifndef CTXPROP_OTLP_LOSS_LOG_H
#define CTXPROP_OTLP_LOSS_LOG_H

#include "otlp/otlp.h"
#include "trace/sink.h"

struct loss_log;

/* Tell all losses there are by now; called by the thread, once a second. */
typedef void loss_log_counts(void *data, sink_tell *tell, void *to);

/*
 * Begin. The thread has the rights that the caller has by now. 0, or -errno after the reason was
 * written to `ret_why`: -ENOENT where the URL says nothing of logs (endpoint.h).
 */
int loss_log_open(const struct otlp_options *options, loss_log_counts *counts, void *data,
		  struct loss_log **ret_log, char *ret_why, size_t size);

/* End at once: a request that goes on is given up. NULL: nothing. */
void loss_log_close(struct loss_log *log);

#endif
