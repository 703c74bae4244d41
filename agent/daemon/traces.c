// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "daemon/traces.h"
#include "trace/store_sink.h"

/* Returns whether there is a store now. */
static bool add_store(struct tracer *tracer, const char *path)
{
	const struct store_limits limits = {STORE_BYTES, STORE_SECONDS};
	struct sink sink;
	int err = store_sink_open(path, &limits, &sink);

	if (err == -EBUSY)
		log_warning("spans are not stored: another ctxpropd writes to %s; see --store",
			    path);
	else if (err)
		log_warning("spans are not stored: %s: %s", path, strerror(-err));
	if (!err)
		tracer_add(tracer, &sink);
	return !err;
}

/* Returns whether anybody gets the spans. */
static bool add_sinks(struct tracer *tracer, const struct options *options)
{
	return options->store && add_store(tracer, options->store);
}

struct tracer *traces_begin(const struct engine *engine, const struct options *options)
{
	struct tracer *tracer;
	int err;

	if (!options->store)
		return NULL;
	err = tracer_new(engine_records_fd(engine), engine_recording_fd(engine), &tracer);
	if (err) {
		log_warning("no spans are made: %s", strerror(-err));
		return NULL;
	}
	err = add_sinks(tracer, options) ? tracer_start(tracer) : -ENOENT;
	if (!err)
		return tracer;
	if (err != -ENOENT)
		log_warning("no spans are made: %s", strerror(-err));
	tracer_stop(tracer);
	return NULL;
}
