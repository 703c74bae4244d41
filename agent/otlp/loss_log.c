// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <curl/curl.h>

#include "base/clock.h"
#include "base/log.h"
#include "otlp/endpoint.h"
#include "base/gzip.h"
#include "otlp/loss_log.h"
#include "otlp/loss_message.h"
#include "otlp/post.h"

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
