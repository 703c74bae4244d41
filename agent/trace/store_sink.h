/* SPDX-License-Identifier: Apache-2.0 */
/* The sink that stores spans, and removes those that are too old. */
#ifndef CTXPROP_STORE_SINK_H
#define CTXPROP_STORE_SINK_H

#include "trace/sink.h"
#include "trace/store.h"

/* Open the store, as store_open() does. 0 or -errno. */
int store_sink_open(const char *path, const struct store_limits *limits, struct sink *ret_sink);

#endif
