/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gets the spans, and the connections: the store, exporters, metrics. All functions of a sink
 * but counts() are called by one thread, that of the tracer, which reads no records meanwhile: what
 * takes time, as the network does, belongs behind a bounded queue of the sink's own.
 */
#ifndef CTXPROP_SINK_H
#define CTXPROP_SINK_H

#include <stdbool.h>

#include "trace/connection.h"
#include "trace/span.h"

/* Told what became of spans: in a word, and how many. */
typedef void sink_tell(void *to, const char *what, unsigned long count);

struct sink {
	/* One span; `boot_to_wall_ns` makes its times those of the clock (CLOCK_REALTIME). */
	void (*span)(void *data, const struct span *span, __s64 boot_to_wall_ns);
	/* One connection that has ended; the same of its times. May be NULL. */
	void (*connection)(void *data, const struct connection *connection, __s64 boot_to_wall_ns);
	/*
	 * All that was read in this turn has been given; several times a second. `hurry`: nothing
	 * is to be put off. Returns whether nothing was: what is not kept yet is read again by the
	 * next daemon if this one is killed. May be NULL.
	 */
	bool (*flush)(void *data, bool hurry);
	/* Free everything. Spans that are not handed on by then are lost, and counted. */
	void (*close)(void *data);
	/* Tell what became of spans until now, to any thread. May be NULL. */
	void (*counts)(void *data, sink_tell *tell, void *to);
	void *data;
	bool takes_unsampled; /* span() gets spans of traces that are not sampled, too */
	/*
	 * Where it does not: a span of such a trace is told of when it is complete. If the trace is
	 * kept all the same, span() gets it later. May be NULL.
	 */
	void (*unsampled)(void *data, const struct span *span, __s64 boot_to_wall_ns);
};

#endif
