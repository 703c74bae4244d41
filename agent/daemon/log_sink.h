/* SPDX-License-Identifier: Apache-2.0 */
/* The sink that logs each request at debug level: what was decided about it, and why. */
#ifndef CTXPROP_DAEMON_LOG_SINK_H
#define CTXPROP_DAEMON_LOG_SINK_H

#include "trace/sink.h"

/* It holds nothing. */
struct sink log_sink(void);

#endif
