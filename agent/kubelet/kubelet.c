// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "kubelet/fetch.h"
#include "kubelet/kubelet.h"

#define USUAL_NS (30 * NS_PER_SECOND)
#define SOON_NS  (3 * NS_PER_SECOND)
#define TURN_MS  500
#define WHY_MAX  192

struct kubelet {
	struct kubelet_options options;
	struct fetch *fetch;
	pthread_t thread;
	atomic_bool ends;

	/* Of the thread. */
	__u64 hash;    /* of the last list */
	__u64 soon_ns; /* between two questions when a pod is missing */
	bool is_told, is_bad;
};

static __u64 hash_of(const char *text, size_t size)
{
	__u64 hash = 0xcbf29ce484222325ULL; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (__u64)(unsigned char)text[i]) * 0x100000001b3ULL;
	return hash;
}

static void tell_bad(struct kubelet *kubelet, const char *why)
{
	if (!kubelet->is_bad)
		log_warning("kubelet-failed",
			    "--kubelet: the pods of this node are not known%s: %s",
			    kubelet->is_told ? " any more, but those that were" : "", why);
	kubelet->is_bad = true;
}

static void tell_good(struct kubelet *kubelet, size_t count)
{
	if (!kubelet->is_told || kubelet->is_bad)
		log_info("kubelet-answers", "--kubelet: %zu pods of this node are known", count);
	kubelet->is_told = true;
	kubelet->is_bad = false;
}

/* A list that has not changed makes nobody look at processes again. */
static void take(struct kubelet *kubelet, const char *text, size_t size)
{
	const __u64 hash = hash_of(text, size);
	char why[WHY_MAX] = "";
	struct pods *pods;

	if (kubelet->is_told && !kubelet->is_bad && hash == kubelet->hash) {
		/* Who is missing may never be listed. */
		if (kubelet->soon_ns < USUAL_NS)
			kubelet->soon_ns *= 2;
		return;
	}
	kubelet->soon_ns = SOON_NS;
	if (pods_read(text, size, &pods, why, sizeof(why))) {
		tell_bad(kubelet, why);
		return;
	}
	tell_good(kubelet, pods_count(pods));
	kubelet->hash = hash;
	kubelet->options.give(pods, kubelet->options.data);
}

static void ask(struct kubelet *kubelet)
{
	char why[WHY_MAX] = "", *text = NULL;
	size_t size = 0;
	int err = fetch_text(kubelet->fetch, &kubelet->ends, &text, &size, why, sizeof(why));

	if (!err)
		take(kubelet, text, size);
	else if (err != -ECANCELED)
		tell_bad(kubelet, why);
	free(text);
}

/* Until it is time to ask again, or to end. */
static void rest(struct kubelet *kubelet)
{
	const __u64 asked_ns = clock_now_ns();
	bool misses = false;

	while (!atomic_load(&kubelet->ends) && clock_now_ns() < asked_ns + USUAL_NS) {
		fetch_wait(kubelet->fetch, TURN_MS);
		misses |= kubelet->options.misses(kubelet->options.data);
		if (misses && clock_now_ns() >= asked_ns + kubelet->soon_ns)
			return;
	}
}

static void *run(void *data)
{
	struct kubelet *kubelet = data;

	while (!atomic_load(&kubelet->ends)) {
		ask(kubelet);
		rest(kubelet);
	}
	return NULL;
}

/* Signals are the main thread's. */
static int start_thread(struct kubelet *kubelet)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&kubelet->thread, NULL, run, kubelet);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

int kubelet_begin(const struct kubelet_options *options, struct kubelet **ret_kubelet)
{
	struct kubelet *kubelet = calloc(1, sizeof(*kubelet));
	int err;

	if (!kubelet)
		return -ENOMEM;
	kubelet->options = *options;
	kubelet->soon_ns = SOON_NS;
	err = fetch_new(options->url, options->token, options->ca, &kubelet->fetch);
	if (!err)
		err = start_thread(kubelet);
	if (err) {
		fetch_free(kubelet->fetch);
		free(kubelet);
		return err;
	}
	*ret_kubelet = kubelet;
	return 0;
}

void kubelet_end(struct kubelet *kubelet)
{
	if (!kubelet)
		return;
	atomic_store(&kubelet->ends, true);
	fetch_wake(kubelet->fetch);
	pthread_join(kubelet->thread, NULL);
	fetch_free(kubelet->fetch);
	free(kubelet);
}
