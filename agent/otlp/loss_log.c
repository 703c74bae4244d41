// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/clock.h"
#include "base/gzip.h"
#include "base/log.h"
#include "otlp/attributes.h"
#include "otlp/endpoint.h"
#include "otlp/loss_log.h"
#include "otlp/losses.h"
#include "otlp/messages.h"
#include "otlp/post.h"

#define WARN OPENTELEMETRY__PROTO__LOGS__V1__SEVERITY_NUMBER__SEVERITY_NUMBER_WARN
#define TEXT OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE

/* A log record and what it points to. Not to be moved. */
struct record {
	otlp_log_record record;
	otlp_value body;
	struct otlp_attributes attributes;
	char text[LOSSES_NAME_MAX + 64];
};

/* The whole message. Not to be moved. */
struct message {
	struct record record[LOSSES_MAX];
	otlp_log_record *records[LOSSES_MAX];
	otlp_resource resource;
	struct otlp_attributes attributes;
	otlp_scope scope;
	otlp_scope_logs scope_logs;
	otlp_scope_logs *scope_list[1];
	otlp_resource_logs resource_logs;
	otlp_resource_logs *resource_list[1];
	otlp_logs_request request;
};

static void fill_record(struct record *to, const struct loss *loss, __u64 wall_ns)
{
	unsigned long count = loss->count - loss->told;

	opentelemetry__proto__logs__v1__log_record__init(&to->record);
	opentelemetry__proto__common__v1__any_value__init(&to->body);
	snprintf(to->text, sizeof(to->text), "lost since the last such record: %lu (%s)", count,
		 loss->reason);
	to->body.value_case = TEXT;
	to->body.string_value = to->text;
	to->record.time_unix_nano = to->record.observed_time_unix_nano = wall_ns;
	to->record.severity_number = WARN;
	to->record.severity_text = "WARN";
	to->record.body = &to->body;
	otlp_attributes_text(&to->attributes, "ctxprop.reason", loss->reason);
	otlp_attributes_number(&to->attributes, "ctxprop.count", (__s64)count);
	to->record.n_attributes = to->attributes.count;
	to->record.attributes = to->attributes.list;
}

static void fill_resource(struct message *message, const char *host)
{
	opentelemetry__proto__resource__v1__resource__init(&message->resource);
	otlp_attributes_text(&message->attributes, "service.name", "ctxpropd");
	otlp_attributes_text(&message->attributes, "service.version", CTXPROP_VERSION);
	otlp_attributes_text(&message->attributes, "host.name", host);
	message->resource.n_attributes = message->attributes.count;
	message->resource.attributes = message->attributes.list;
}

static void fill_rest(struct message *message, size_t count)
{
	opentelemetry__proto__common__v1__instrumentation_scope__init(&message->scope);
	message->scope.name = "ctxprop";
	message->scope.version = CTXPROP_VERSION;
	opentelemetry__proto__logs__v1__scope_logs__init(&message->scope_logs);
	message->scope_logs.scope = &message->scope;
	message->scope_logs.n_log_records = count;
	message->scope_logs.log_records = message->records;
	message->scope_list[0] = &message->scope_logs;
	opentelemetry__proto__logs__v1__resource_logs__init(&message->resource_logs);
	message->resource_logs.resource = &message->resource;
	message->resource_logs.n_scope_logs = 1;
	message->resource_logs.scope_logs = message->scope_list;
	message->resource_list[0] = &message->resource_logs;
	opentelemetry__proto__collector__logs__v1__export_logs_service_request__init(
	    &message->request);
	message->request.n_resource_logs = 1;
	message->request.resource_logs = message->resource_list;
}

/*
 * The message of what `count` losses have grown by since they were told of; at most LOSSES_MAX.
 * `host` is the name of this host, `wall_ns` the time (CLOCK_REALTIME). The bytes are the caller's.
 * Returns 0 or -ENOMEM.
 */
static int loss_message_pack(struct loss *const *loss, size_t count, const char *host,
			     __u64 wall_ns, __u8 **ret_bytes, size_t *ret_size)
{
	struct message *message = calloc(1, sizeof(*message));

	if (!message)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		fill_record(&message->record[i], loss[i], wall_ns);
		message->records[i] = &message->record[i].record;
	}
	fill_resource(message, host);
	fill_rest(message, count);
	*ret_size = protobuf_c_message_get_packed_size(&message->request.base);
	*ret_bytes = malloc(*ret_size);
	if (*ret_bytes)
		protobuf_c_message_pack(&message->request.base, *ret_bytes);
	free(message);
	return *ret_bytes ? 0 : -ENOMEM;
}

#define LOOK_SECONDS 1

struct loss_log {
	struct endpoint endpoint;
	struct utsname host;
	struct post *post;
	loss_log_counts *counts;
	void *data;
	pthread_t thread;
	bool started;
	pthread_mutex_t mutex;
	pthread_cond_t news; /* by CLOCK_MONOTONIC */
	bool closed;
	struct losses losses; /* of the thread */
	struct post_answer answer;
};

static void note(void *to, const char *what, unsigned long count)
{
	losses_note(to, what, count);
}

static __u64 wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (__u64)now.tv_sec * NS_PER_SECOND + (__u64)now.tv_nsec;
}

/* Returns whether it has arrived, or may have, and must not be retried. */
static bool send_losses(struct loss_log *log, struct loss *const *due, size_t count)
{
	__u8 *message = NULL, *body = NULL;
	bool arrived = false;
	size_t size;

	if (!loss_message_pack(due, count, log->host.nodename, wall_ns(), &message, &size) &&
	    !gzip(message, size, &body, &size)) {
		post_send(log->post, body, size, &log->answer);
		arrived = log->answer.result != POST_LATER;
		if (log->answer.result != POST_ACCEPTED)
			log_debug("otlp-log-failed", "cannot send a log record to %s: %s",
				  log->endpoint.shown, log->answer.why);
	}
	free(message);
	free(body);
	return arrived;
}

static void look(struct loss_log *log)
{
	struct loss *due[LOSSES_MAX];
	size_t count;
	bool arrived;

	log->counts(log->data, note, &log->losses);
	count = losses_due(&log->losses, clock_now_ns(), due);
	if (!count)
		return;
	arrived = send_losses(log, due, count);
	for (size_t i = 0; i < count; i++)
		losses_tried(due[i], clock_now_ns(), arrived);
}

/* Returns whether to go on. */
static bool wait_for_turn(struct loss_log *log)
{
	struct timespec until;
	bool closed;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LOOK_SECONDS;
	pthread_mutex_lock(&log->mutex);
	while (!log->closed && pthread_cond_timedwait(&log->news, &log->mutex, &until) != ETIMEDOUT)
		;
	closed = log->closed;
	pthread_mutex_unlock(&log->mutex);
	return !closed;
}

static void *run(void *data)
{
	struct loss_log *log = data;

	while (wait_for_turn(log))
		look(log);
	return NULL;
}

static int prepare(struct loss_log *log, const struct otlp_options *options, char *ret_why,
		   size_t size)
{
	struct post_options wanted = {.headers = options->headers, .ca = options->ca};
	int err = endpoint_parse_logs(options->url, options->is_base, &log->endpoint);

	if (err) {
		snprintf(ret_why, size, "%s",
			 err == -ENOENT ? "the URL has a path that does not end with /v1/traces"
					: strerror(-err));
		return err;
	}
	uname(&log->host);
	wanted.url = log->endpoint.url;
	return post_new(&wanted, &log->post, ret_why, size);
}

/* Signals are the main thread's. */
static int start(struct loss_log *log, char *ret_why, size_t size)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&log->thread, NULL, run, log);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	log->started = !err;
	if (err)
		snprintf(ret_why, size, "%s", strerror(err));
	return -err;
}

static struct loss_log *make(loss_log_counts *counts, void *data)
{
	struct loss_log *log = calloc(1, sizeof(*log));
	pthread_condattr_t attributes;

	if (!log || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(log);
		return NULL;
	}
	log->counts = counts;
	log->data = data;
	pthread_mutex_init(&log->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&log->news, &attributes);
	pthread_condattr_destroy(&attributes);
	return log;
}

int loss_log_open(const struct otlp_options *options, loss_log_counts *counts, void *data,
		  struct loss_log **ret_log, char *ret_why, size_t size)
{
	struct loss_log *log = make(counts, data);
	int err;

	if (!log) {
		snprintf(ret_why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	err = prepare(log, options, ret_why, size);
	/* Earlier losses are not reported. */
	if (!err) {
		counts(data, note, &log->losses);
		err = start(log, ret_why, size);
	}
	if (err)
		loss_log_close(log);
	else
		*ret_log = log;
	return err;
}

void loss_log_close(struct loss_log *log)
{
	if (!log)
		return;
	if (log->started) {
		pthread_mutex_lock(&log->mutex);
		log->closed = true;
		pthread_cond_signal(&log->news);
		pthread_mutex_unlock(&log->mutex);
		post_end_by(log->post, clock_now_ns());
		pthread_join(log->thread, NULL);
	}
	post_free(log->post);
	endpoint_free(&log->endpoint);
	pthread_cond_destroy(&log->news);
	pthread_mutex_destroy(&log->mutex);
	free(log);
	curl_global_cleanup();
}
