// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "trace/query_limits.h"
#include "web/patience.h"

#define PATIENCE_NS (5 * NS_PER_SECOND)
#define AGAIN_NS    (NS_PER_SECOND / 10) /* for statements that begin late, too */
#define IDLE_NS     (3600 * NS_PER_SECOND)
#define QUERIES     16 /* at a time: more than there are threads that ask */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t news;
	pthread_t thread;
	atomic_bool ended;
	bool is_freed;
	struct watched {
		sqlite3 *db; /* NULL: a free place */
		struct query_limits limits;
	} watched[QUERIES];
} patience = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Interrupt what is late. Returns when to look again. */
static __u64 interrupt_late(void)
{
	const __u64 now_ns = clock_now_ns();
	__u64 next_ns = now_ns + IDLE_NS;

	for (size_t i = 0; i < QUERIES; i++) {
		const struct watched *watched = &patience.watched[i];
		__u64 at_ns = watched->limits.until_ns;

		if (!watched->db)
			continue;
		if (at_ns <= now_ns || atomic_load(&patience.ended)) {
			sqlite3_interrupt(watched->db);
			at_ns = now_ns + AGAIN_NS;
		}
		next_ns = at_ns < next_ns ? at_ns : next_ns;
	}
	return next_ns;
}

static void *run(void *data)
{
	pthread_mutex_lock(&patience.lock);
	while (!patience.is_freed) {
		const __u64 next_ns = interrupt_late();
		const struct timespec next = {.tv_sec = (time_t)(next_ns / NS_PER_SECOND),
					      .tv_nsec = (long)(next_ns % NS_PER_SECOND)};

		pthread_cond_timedwait(&patience.news, &patience.lock, &next);
	}
	pthread_mutex_unlock(&patience.lock);
	return data;
}

int patience_begin(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&patience.news, &attributes);
	pthread_condattr_destroy(&attributes);
	patience.is_freed = false;
	atomic_store(&patience.ended, false);
	return -pthread_create(&patience.thread, NULL, run, NULL);
}

static struct watched *place_of(const sqlite3 *db)
{
	for (size_t i = 0; i < QUERIES; i++)
		if (patience.watched[i].db == db)
			return &patience.watched[i];
	return NULL;
}

int patience_watch(sqlite3 *db)
{
	struct watched *place;

	pthread_mutex_lock(&patience.lock);
	place = place_of(NULL);
	if (place) {
		place->limits = (struct query_limits){.until_ns = clock_now_ns() + PATIENCE_NS,
						      .ended = &patience.ended};
		place->db = db;
		query_limit(db, &place->limits);
		pthread_cond_signal(&patience.news);
	}
	pthread_mutex_unlock(&patience.lock);
	return place ? 0 : -EBUSY;
}

void patience_forget(sqlite3 *db)
{
	struct watched *place;

	pthread_mutex_lock(&patience.lock);
	place = place_of(db);
	if (place)
		place->db = NULL;
	pthread_mutex_unlock(&patience.lock);
}

static void wake(void)
{
	pthread_mutex_lock(&patience.lock);
	pthread_cond_signal(&patience.news);
	pthread_mutex_unlock(&patience.lock);
}

void patience_end(void)
{
	atomic_store(&patience.ended, true);
	wake();
}

bool patience_has_ended(void)
{
	return atomic_load(&patience.ended);
}

void patience_free(void)
{
	pthread_mutex_lock(&patience.lock);
	patience.is_freed = true;
	pthread_mutex_unlock(&patience.lock);
	wake();
	pthread_join(patience.thread, NULL);
	pthread_cond_destroy(&patience.news);
}
