// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "control/policy_file.h"
#include "daemon/filtered.h"
#include "daemon/log_sink.h"
#include "daemon/policy_json.h"
#include "daemon/traces.h"
#include "daemon/watchdog.h"
#include "otlp/otlp.h"
#include "trace/store_sink.h"

/* Returns whether there is a store now. */
static bool add_store(struct tracer *tracer, const struct options *options)
{
	const char *path = options->store;
	struct sink sink;
	int err = store_sink_open(path, &options->store_limits, &sink);

	if (err == -EBUSY)
		log_warning("store-failed",
			    "spans are not stored: another ctxpropd writes to %s; see --store",
			    path);
	else if (err)
		log_warning("store-failed", "spans are not stored: %s: %s", path,
			    err == -EPROTO ? "it is of another version (PRAGMA user_version)"
					   : strerror(-err));
	if (!err)
		tracer_add(tracer, &sink);
	return !err;
}

/* The URL of the command line, or of OpenTelemetry's environment variable. */
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
		log_warning("otlp-failed", "spans are not sent by OTLP: %s", why);
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

/* Log each request? */
static bool is_logged(const struct options *options)
{
	return options->level == LOG_LEVEL_DEBUG;
}

/* Returns whether it is from now on. */
static bool add_log(struct tracer *tracer)
{
	struct sink sink;
	int err = log_sink_open(&sink);

	if (err)
		return false;
	tracer_add(tracer, &sink);
	return true;
}

/* Returns whether anybody gets the spans. */
static bool add_sinks(struct tracer *tracer, struct traces *traces, const struct options *options)
{
	const struct otlp_options otlp = otlp_wanted(options);
	bool stored = options->store && add_store(tracer, options);
	bool counted = options->has_http && add_metrics(tracer, traces);
	bool sent = otlp.url && add_otlp(tracer, &otlp);
	bool logged = is_logged(options) && add_log(tracer);

	return stored || counted || sent || logged;
}

/* Returns NULL after what is wrong was logged. */
static struct service_rules *read_services(const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct service_rules *rules = NULL;
	struct policy_error error;
	size_t size = 0;
	int err = policy_load(path, &text, &size, &error);

	if (!err)
		err = service_rules_read(text, size, path, &rules, error.text, sizeof(error.text));
	if (err)
		log_warning("services-refused", "--services: %s", error.text);
	return rules;
}

void traces_reload(struct traces *traces)
{
	struct service_rules *rules;

	if (!traces->tracer || !traces->services)
		return;
	rules = read_services(traces->services);
	if (!rules) {
		log_warning("services-kept", "--services: the names of services stay as they were");
		return;
	}
	tracer_set_rules(traces->tracer, rules);
	log_info("services-loaded", "--services: %s is in force", traces->services);
}

static void begin_spans(struct traces *traces, const struct engine *engine,
			const struct options *options)
{
	struct tracer *tracer;
	int err;

	if (!options->store && !options->has_http && !otlp_wanted(options).url &&
	    !is_logged(options))
		return;
	err = tracer_new(engine_records_fd(engine), engine_recording_fd(engine), &tracer);
	if (err) {
		log_warning("spans-failed", "no spans are made: %s", strerror(-err));
		return;
	}
	tracer_limit_heads(tracer, options->head_bytes, options->redact);
	if (options->services)
		tracer_set_rules(tracer, read_services(options->services));
	if (options->keep.errors || options->keep.slow)
		err = tracer_keep(tracer, &options->keep);
	if (!err)
		err = add_sinks(tracer, traces, options) ? tracer_start(tracer) : -ENOENT;
	if (!err) {
		traces->tracer = tracer;
		return;
	}
	if (err != -ENOENT)
		log_warning("spans-failed", "no spans are made: %s", strerror(-err));
	tracer_stop(tracer);
}

/* Only the store has room for them. */
static void begin_connections(struct traces *traces, const struct engine *engine)
{
	const struct connections_maps maps = engine_connections(engine);
	int err = connections_open(&maps, &traces->connections);

	if (err)
		log_warning("connections-failed", "connections are not recorded: %s",
			    strerror(-err));
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
						       .recorded = traces->recorded,
						       .counters_fd = engine_counters_fd(engine),
						       .flows_fd = engine_flows_fd(engine),
						       .longest_turn_ns = watchdog_longest_ns},
					   .policy = {rules, policies},
					   .store = options->store,
					   .health = watchdog_health,
					   .shows_traces = options->shows_traces};
	int err = web_start(&wanted, &traces->web);

	if (err == -EADDRINUSE)
		log_warning(
		    "http-failed",
		    "no metrics and no page: another program uses that address; see --http");
	else if (err)
		log_warning("http-failed", "no metrics and no page: %s", strerror(-err));
}

/* The receiver of spans by OTLP is told of lost ones, too. */
static void begin_losses(struct traces *traces, const struct engine *engine,
			 const struct options *options)
{
	const struct otlp_options receiver = otlp_wanted(options);

	if (!traces->tracer || !receiver.url)
		return;
	traces->losses = (struct losses_source){.tracer = traces->tracer,
						.counters_fd = engine_counters_fd(engine)};
	losses_begin(&traces->losses, &receiver);
}

static void take_pods(struct pods *pods, void *data)
{
	tracer_set_pods(data, pods);
}

static bool misses_pod(void *data)
{
	return tracer_misses_pod(data);
}

/* Pods belong to spans: without any nobody is asked. */
static void begin_kubelet(struct traces *traces, const struct options *options)
{
	const struct kubelet_options wanted = {.url = options->kubelet,
					       .token = options->kubelet_token,
					       .ca = options->kubelet_ca,
					       .give = take_pods,
					       .misses = misses_pod,
					       .data = traces->tracer};
	int err;

	if (!options->kubelet || !traces->tracer)
		return;
	err = kubelet_begin(&wanted, &traces->kubelet);
	if (err)
		log_warning("kubelet-failed", "--kubelet: the pods of this node are not known: %s",
			    strerror(-err));
}

void traces_begin(struct traces *traces, const struct engine *engine, struct policies *policies,
		  const struct options *options)
{
	traces->services = options->services;
	begin_spans(traces, engine, options);
	begin_losses(traces, engine, options);
	begin_kubelet(traces, options);
	if (traces->tracer && tracer_takes_connections(traces->tracer))
		begin_connections(traces, engine);
	if (options->has_http)
		begin_http(traces, engine, policies, options);
	filtered_tell(otlp_wanted(options).url,
		      options->has_http ? (const struct sockaddr *)&options->http.address : NULL);
}

void traces_end(struct traces *traces)
{
	web_stop(traces->web);
	losses_end(&traces->losses);
	kubelet_end(traces->kubelet);
	connections_close(traces->connections);
	tracer_stop(traces->tracer);
	metrics_free(traces->metrics);
}
