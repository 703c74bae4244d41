// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/traces.h"
#include "otlp/otlp.h"
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

/* What the command line says, or the environment as OpenTelemetry names it. */
static struct otlp_options otlp_wanted(const struct options *options)
{
	const char *base = getenv("OTEL_EXPORTER_OTLP_ENDPOINT");
	bool is_base = !options->otlp && base && *base;

	return (struct otlp_options){.url = is_base ? base : options->otlp,
				     .is_base = is_base,
				     .headers = options->otlp_headers,
				     .ca = options->otlp_ca};
}

/* Returns whether spans are sent now. */
static bool add_otlp(struct tracer *tracer, const struct otlp_options *wanted)
{
	struct sink sink;
	char why[OTLP_WHY_MAX];

	if (otlp_sink_open(wanted, &sink, why, sizeof(why))) {
		log_warning("spans are not sent by OTLP: %s", why);
		return false;
	}
	tracer_add(tracer, &sink);
	return true;
}

/* Returns whether anybody gets the spans. */
static bool add_sinks(struct tracer *tracer, const struct options *options)
{
	const struct otlp_options otlp = otlp_wanted(options);
	bool stored = options->store && add_store(tracer, options->store);
	bool sent = otlp.url && add_otlp(tracer, &otlp);

	return stored || sent;
}

struct tracer *traces_begin(const struct engine *engine, const struct options *options)
{
	struct tracer *tracer;
	int err;

	if (!options->store && !otlp_wanted(options).url)
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
