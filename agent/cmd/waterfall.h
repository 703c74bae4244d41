/* SPDX-License-Identifier: Apache-2.0 */
/* A trace on a terminal: its spans as a tree, and beside it when each of them was at work. */
#ifndef CTXPROP_WATERFALL_H
#define CTXPROP_WATERFALL_H

#include "trace/query.h"

/* "1.53 ms" into a buffer of WATERFALL_DURATION_MAX bytes; returns it. */
#define WATERFALL_DURATION_MAX 24
const char *waterfall_duration(char *buffer, __s64 ns);

/* To standard output, in its colours (colour.h). */
void waterfall_print(const struct query_trace *trace);

#endif
