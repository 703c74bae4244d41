// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <curl/curl.h>

#include "base/clock.h"
#include "base/log.h"
#include "otlp/batch.h"
#include "otlp/endpoint.h"
#include "base/gzip.h"
#include "otlp/otlp.h"
#include "otlp/post.h"
#include "otlp/queue.h"
#include "otlp/retry.h"
#include "otlp/tally.h"

#define PATIENCE_NS NS_PER_SECOND /* how long spans wait for a batch to fill */
#define NS_PER_MS   1000000ULL

struct otlp {
	struct endpoint endpoint;
	struct queue *queue;
	struct tally tally;
	pthread_t thread;
	bool started;
	/* Of the thread. */
	struct batch *batch;
	struct post *post;
	struct post_answer answer;
	bool failing; /* said so */
};

static void take(void *data, const struct span *span, __s64 boot_to_wall_ns)
{
	struct otlp *otlp = data;

	atomic_fetch_add(&otlp->tally.given, 1);
	if (!queue_put(otlp->queue, span, boot_to_wall_ns))
		tally_lose(&otlp->tally, OTLP_LOST_QUEUE_FULL, 1);
}

/* Only part of a batch may have been taken. */
static void count_accepted(struct otlp *otlp, size_t count)
{
	size_t rejected = otlp->answer.rejected < count ? otlp->answer.rejected : count;

	atomic_fetch_add(&otlp->tally.accepted, count - rejected);
	tally_lose(&otlp->tally, OTLP_LOST_REJECTED, rejected);
	if (otlp->failing)
		log_info("otlp-recovered", "spans for %s: delivered again", otlp->endpoint.shown);
	otlp->failing = false;
}

static void tell_failing(struct otlp *otlp)
{
	if (!otlp->failing)
		log_info("otlp-retry", "spans for %s: %s; will retry, %zu more are queued",
			 otlp->endpoint.shown, otlp->answer.why, queue_length(otlp->queue));
	otlp->failing = true;
	tally_warn(&otlp->tally, otlp->endpoint.shown, otlp->answer.why);
}

/* Wait before a retry. Returns OTLP_LOSSES if there is to be one, or why not. */
static enum otlp_loss wait_for_try(struct otlp *otlp, unsigned int tries, __u64 first_ns)
{
	bool asked = otlp->answer.retry_after_ms != RETRY_NEVER;
	__u32 random = 0, wait_ms;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (__u32)clock_now_ns();
	wait_ms = retry_pause_ms(otlp->answer.retry_after_ms, tries, random);
	if (!retry_is_worth((clock_now_ns() - first_ns) / NS_PER_MS, wait_ms, asked))
		return OTLP_LOST_GIVEN_UP;
	tell_failing(otlp);
	queue_wait_closed(otlp->queue, wait_ms * NS_PER_MS);
	return OTLP_LOSSES;
}

/* Send, with retries, until it is accepted or lost. Returns OTLP_LOSSES, or why it is lost. */
static enum otlp_loss deliver(struct otlp *otlp, const __u8 *body, size_t size)
{
	__u64 first_ns = clock_now_ns();
	enum otlp_loss loss = OTLP_LOSSES;
	bool is_last;

	for (unsigned int tries = 1; loss == OTLP_LOSSES; tries++) {
		is_last = queue_wait_closed(otlp->queue, 0);
		post_send(otlp->post, body, size, &otlp->answer);
		atomic_fetch_add(&otlp->tally.requests, 1);
		if (tries > 1)
			atomic_fetch_add(&otlp->tally.retries, 1);
		if (otlp->answer.result == POST_ACCEPTED)
			return OTLP_LOSSES;
		if (otlp->answer.result == POST_REFUSED)
			return OTLP_LOST_REFUSED;
		if (otlp->answer.result == POST_UNCONFIRMED)
			return OTLP_LOST_UNCONFIRMED;
		loss = is_last || post_is_over(otlp->post) ? OTLP_LOST_ENDED
							   : wait_for_try(otlp, tries, first_ns);
	}
	return loss;
}

static void export(struct otlp *otlp, size_t count)
{
	enum otlp_loss loss = OTLP_LOST_NO_MEMORY;
	__u8 *message = NULL, *body = NULL;
	size_t size;

	if (!batch_pack(otlp->batch, count, &message, &size) && !gzip(message, size, &body, &size))
		loss = deliver(otlp, body, size);
	if (loss == OTLP_LOSSES)
		count_accepted(otlp, count);
	else
		tally_lose(&otlp->tally, loss, count);
	tally_warn(&otlp->tally, otlp->endpoint.shown, otlp->answer.why);
	free(message);
	free(body);
}

static void *run(void *data)
{
	struct otlp *otlp = data;
	size_t count;

	while ((count = queue_take(otlp->queue, batch_items(otlp->batch), OTLP_BATCH_MAX,
				   PATIENCE_NS)) > 0)
		export(otlp, count);
	return NULL;
}

static void close_otlp(void *data)
{
	struct otlp *otlp = data;

	if (otlp->started) {
		queue_close(otlp->queue);
		post_end_by(otlp->post, clock_now_ns() + OTLP_END_SECONDS * NS_PER_SECOND);
		pthread_join(otlp->thread, NULL);
		tally_tell(&otlp->tally, otlp->endpoint.shown);
	}
	queue_free(otlp->queue);
	batch_free(otlp->batch);
	post_free(otlp->post);
	endpoint_free(&otlp->endpoint);
	free(otlp);
	curl_global_cleanup();
}

static void tell_counts(void *data, sink_tell *tell, void *to)
{
	const struct otlp *otlp = data;
	struct otlp_counts counts;
	char what[32];

	tally_read(&otlp->tally, &counts);
	tell(to, "otlp-accepted", counts.accepted);
	for (enum otlp_loss loss = 0; loss < OTLP_LOSSES; loss++) {
		snprintf(what, sizeof(what), "otlp-%s", otlp_loss_name(loss));
		tell(to, what, counts.lost[loss]);
	}
}

static int prepare(struct otlp *otlp, const struct otlp_options *options, char *ret_why,
		   size_t size)
{
	struct post_options wanted = {.headers = options->headers, .ca = options->ca};
	struct utsname host = {};
	int err = endpoint_parse(options->url, options->is_base, &otlp->endpoint);

	if (err) {
		snprintf(ret_why, size, "%s",
			 err == -EINVAL ? "not an http:// or https:// URL" : strerror(-err));
		return err;
	}
	uname(&host);
	otlp->queue = queue_new(OTLP_QUEUE_MAX);
	otlp->batch = batch_new(OTLP_BATCH_MAX, host.nodename);
	if (!otlp->queue || !otlp->batch) {
		snprintf(ret_why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	wanted.url = otlp->endpoint.url;
	return post_new(&wanted, &otlp->post, ret_why, size);
}

/* Signals are the main thread's. */
static int start(struct otlp *otlp, char *ret_why, size_t size)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&otlp->thread, NULL, run, otlp);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	otlp->started = !err;
	if (err)
		snprintf(ret_why, size, "%s", strerror(err));
	return -err;
}

int otlp_sink_open(const struct otlp_options *options, struct sink *ret_sink, char *ret_why,
		   size_t size)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));
	int err;

	if (!otlp || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(otlp);
		snprintf(ret_why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	err = prepare(otlp, options, ret_why, size);
	if (!err)
		err = start(otlp, ret_why, size);
	if (err) {
		close_otlp(otlp);
		return err;
	}
	*ret_sink =
	    (struct sink){.span = take, .close = close_otlp, .counts = tell_counts, .data = otlp};
	return 0;
}
