/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that turns records into spans and stores them. What it cannot keep up with is lost in
 * the kernel, and counted there (REASON_RECORD_LOST).
 */
#ifndef CTXPROP_TRACER_H
#define CTXPROP_TRACER_H

#include "trace/store.h"

struct tracer_options {
	int records_fd, recording_fd; /* of the maps of these names; the caller's */
	const char *path;             /* of the store */
	struct store_limits limits;
};

struct tracer;

/*
 * Open the store and begin to read records. The thread has the rights that the caller has by now.
 * Returns 0 or -errno, as store_open() does.
 */
int tracer_start(const struct tracer_options *options, struct tracer **ret_tracer);

/* Store what has been told until now, and end. NULL is allowed. */
void tracer_stop(struct tracer *tracer);

#endif
