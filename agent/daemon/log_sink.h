/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink that logs each request at debug level: what was decided about it, and why. Of more than
 * LOG_LIMIT_LINES in a second it says how many there were.
 */
#ifndef CTXPROP_DAEMON_LOG_SINK_H
#define CTXPROP_DAEMON_LOG_SINK_H

#include "trace/sink.h"

/* 0 or -ENOMEM. */
int log_sink_open(struct sink *ret_sink);

#endif
