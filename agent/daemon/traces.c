// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/policy_json.h"
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

/* Returns whether they are counted. */
static bool add_metrics(struct tracer *tracer, struct traces *traces)
{
	struct sink sink;

	traces->metrics = metrics_new();
	if (!traces->metrics)
		return false;
	sink = metrics_sink(traces->metrics);
	tracer_add(tracer, &sink);
	return true;
}

/* Returns whether anybody gets the spans. */
static bool add_sinks(struct tracer *tracer, struct traces *traces, const struct options *options)
{
	const struct otlp_options otlp = otlp_wanted(options);
	bool stored = options->store && add_store(tracer, options->store);
	bool counted = options->has_http && add_metrics(tracer, traces);
	bool sent = otlp.url && add_otlp(tracer, &otlp);

	return stored || counted || sent;
}

static void begin_spans(struct traces *traces, const struct engine *engine,
			const struct options *options)
{
	struct tracer *tracer;
	int err;

	if (!options->store && !options->has_http && !otlp_wanted(options).url)
		return;
	err = tracer_new(engine_records_fd(engine), engine_recording_fd(engine), &tracer);
	if (err) {
		log_warning("no spans are made: %s", strerror(-err));
		return;
	}
	err = add_sinks(tracer, traces, options) ? tracer_start(tracer) : -ENOENT;
	if (!err) {
		traces->tracer = tracer;
		return;
	}
	if (err != -ENOENT)
		log_warning("no spans are made: %s", strerror(-err));
	tracer_stop(tracer);
}

/* Only the store has room for them. */
static void begin_connections(struct traces *traces, const struct engine *engine)
{
	const struct connections_maps maps = engine_connections(engine);
	int err = connections_open(&maps, &traces->connections);

	if (err)
		log_warning("connections are not recorded: %s", strerror(-err));
}

static json_t *rules(void *data)
{
	return policy_json(data);
}

static void begin_http(struct traces *traces, const struct engine *engine,
		       struct policies *policies, const struct options *options)
{
	const struct web_options wanted = {.address = options->http,
					   .hosts = options->http_hosts,
					   .metrics = {.metrics = traces->metrics,
						       .tracer = traces->tracer,
						       .counters_fd = engine_counters_fd(engine),
						       .flows_fd = engine_flows_fd(engine)},
					   .policy = {rules, policies},
					   .store = options->store,
					   .shows_traces = options->shows_traces};
	int err = web_start(&wanted, &traces->web);

	if (err == -EADDRINUSE)
		log_warning("no metrics and no page by HTTP: another program has that address; "
			    "see --http");
	else if (err)
		log_warning("no metrics and no page by HTTP: %s", strerror(-err));
}

void traces_begin(struct traces *traces, const struct engine *engine, struct policies *policies,
		  const struct options *options)
{
	begin_spans(traces, engine, options);
	if (traces->tracer && tracer_takes_connections(traces->tracer))
		begin_connections(traces, engine);
	if (options->has_http)
		begin_http(traces, engine, policies, options);
}

void traces_end(struct traces *traces)
{
	web_stop(traces->web);
	connections_close(traces->connections);
	tracer_stop(traces->tracer);
	metrics_free(traces->metrics);
}
