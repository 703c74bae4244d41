// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "web/workers.h"

#define THREADS_MAX 4
#define NS_PER_MS   1000000ULL

struct workers {
	pthread_mutex_t lock;
	pthread_cond_t news, gone; /* by CLOCK_MONOTONIC */
	pthread_t thread[THREADS_MAX];
	unsigned int threads, alive;
	struct work *first, **last;
	unsigned int waiting, room;
	bool is_ended;
};

/* NULL: the end. */
static struct work *take(struct workers *workers)
{
	struct work *work;

	pthread_mutex_lock(&workers->lock);
	while (!workers->first && !workers->is_ended)
		pthread_cond_wait(&workers->news, &workers->lock);
	work = workers->first;
	if (work) {
		workers->first = work->next;
		workers->last = work->next ? workers->last : &workers->first;
		workers->waiting--;
	} else if (!--workers->alive) {
		pthread_cond_signal(&workers->gone);
	}
	pthread_mutex_unlock(&workers->lock);
	return work;
}

static void *run(void *data)
{
	struct work *work;

	while ((work = take(data)))
		work->do_it(work);
	return NULL;
}

static void make_conditions(struct workers *workers)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&workers->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&workers->news, &attributes);
	pthread_cond_init(&workers->gone, &attributes);
	pthread_condattr_destroy(&attributes);
}

struct workers *workers_new(unsigned int threads, unsigned int room)
{
	struct workers *workers = threads <= THREADS_MAX ? calloc(1, sizeof(*workers)) : NULL;

	if (!workers)
		return NULL;
	make_conditions(workers);
	workers->room = room;
	workers->last = &workers->first;
	pthread_mutex_lock(&workers->lock);
	while (workers->threads < threads &&
	       !pthread_create(&workers->thread[workers->threads], NULL, run, workers))
		workers->threads++;
	workers->alive = workers->threads;
	pthread_mutex_unlock(&workers->lock);
	if (workers->threads)
		return workers;
	free(workers);
	return NULL;
}

int workers_give(struct workers *workers, struct work *work)
{
	int err = -EBUSY;

	pthread_mutex_lock(&workers->lock);
	if (workers->waiting < workers->room && !workers->is_ended) {
		work->next = NULL;
		*workers->last = work;
		workers->last = &work->next;
		workers->waiting++;
		pthread_cond_signal(&workers->news);
		err = 0;
	}
	pthread_mutex_unlock(&workers->lock);
	return err;
}

static bool wait_for_all(struct workers *workers, unsigned int ms)
{
	const __u64 until_ns = clock_now_ns() + ms * NS_PER_MS;
	const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SECOND),
				       .tv_nsec = (long)(until_ns % NS_PER_SECOND)};
	bool all;

	pthread_mutex_lock(&workers->lock);
	workers->is_ended = true;
	pthread_cond_broadcast(&workers->news);
	while (workers->alive &&
	       pthread_cond_timedwait(&workers->gone, &workers->lock, &until) != ETIMEDOUT)
		;
	all = !workers->alive;
	pthread_mutex_unlock(&workers->lock);
	return all;
}

bool workers_end(struct workers *workers, unsigned int ms)
{
	return !workers || wait_for_all(workers, ms);
}

void workers_free(struct workers *workers)
{
	if (!workers)
		return;
	for (unsigned int i = 0; i < workers->threads; i++)
		pthread_join(workers->thread[i], NULL);
	pthread_cond_destroy(&workers->news);
	pthread_cond_destroy(&workers->gone);
	pthread_mutex_destroy(&workers->lock);
	free(workers);
}
