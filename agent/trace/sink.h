/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A receiver of spans and connections: the store, exporters, metrics. All functions of a sink but
 * counts() are called by the tracer's thread, which reads no records meanwhile. So what takes time,
 * such as the network, belongs behind a bounded queue of the sink.
 */
#ifndef CTXPROP_SINK_H
#define CTXPROP_SINK_H

#include <stdbool.h>

#include "trace/connection.h"
#include "trace/span.h"

/* Called for each thing that became of spans, with a word for it, and their number. */
typedef void sink_tell(void *to, const char *what, unsigned long count);

struct sink {
	/* One span; `boot_to_wall_ns` makes its times those of the clock (CLOCK_REALTIME). */
	void (*span)(void *data, const struct span *span, __s64 boot_to_wall_ns);
	/* One connection that has ended; for its times, as above. May be NULL. */
	void (*connection)(void *data, const struct connection *connection, __s64 boot_to_wall_ns);
	/*
	 * Called several times a second, after everything that was read was given. `hurry`: nothing
	 * may be put off. Returns whether everything is stored now; what is not is read again by
	 * the next daemon if this one is killed. May be NULL.
	 */
	bool (*flush)(void *data, bool hurry);
	/* Free everything. Spans that were not passed on until then are lost, and counted. */
	void (*close)(void *data);
	/* Tell what became of spans until now, to any thread. May be NULL. */
	void (*counts)(void *data, sink_tell *tell, void *to);
	void *data;
	bool takes_unsampled; /* span() gets spans of traces that are not sampled, too */
	/*
	 * If it does not: called when a span of such a trace is complete. If the trace is kept
	 * nevertheless, span() gets it later. May be NULL.
	 */
	void (*unsampled)(void *data, const struct span *span, __s64 boot_to_wall_ns);
};

#endif
