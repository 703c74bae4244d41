// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "base/jobs.h"
#include "base/stop.h"

#define THREADS_MAX 4

/* The jobs of one jobs_run(), as long as some are not done. */
struct batch {
	struct job *jobs;
	size_t count, begun, done;
	struct batch *older;
};

/* All batches of this process, and the threads at work on them, callers among them. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t news; /* a batch, or a job that is done */
	struct batch *newest;
	size_t threads;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};

/* The thread takes part in a batch already: its jobs may run jobs of their own. */
static _Thread_local bool at_work;

static size_t processors(void)
{
	cpu_set_t usable;
	size_t count = sched_getaffinity(0, sizeof(usable), &usable) ? THREADS_MAX
								     : (size_t)CPU_COUNT(&usable);

	return count < THREADS_MAX ? count : THREADS_MAX;
}

/* A batch with a job that nobody has begun: `own`, or else any. NULL: there is none. */
static struct batch *with_work(struct batch *own)
{
	struct batch *batch = own->begun < own->count ? own : pool.newest;

	while (batch && batch->begun == batch->count)
		batch = batch->older;
	return batch;
}

/* One job, with the lock let go of meanwhile. */
static void run_next(struct batch *batch)
{
	struct job *job = &batch->jobs[batch->begun++];

	pthread_mutex_unlock(&pool.lock);
	job->err = stop_asked() ? -ECANCELED : job->run(job->data);
	pthread_mutex_lock(&pool.lock);
	batch->done++;
	pthread_cond_broadcast(&pool.news);
}

/* Until all of `own` are done; who has nothing to do for it helps others. */
static void work(struct batch *own)
{
	pthread_mutex_lock(&pool.lock);
	while (own->done < own->count) {
		struct batch *batch = with_work(own);

		if (batch)
			run_next(batch);
		else
			pthread_cond_wait(&pool.news, &pool.lock);
	}
	pthread_mutex_unlock(&pool.lock);
}

static void *help(void *batch)
{
	at_work = true;
	work(batch);
	return NULL;
}

static void open_batch(struct batch *batch)
{
	pthread_mutex_lock(&pool.lock);
	batch->older = pool.newest;
	pool.newest = batch;
	pthread_cond_broadcast(&pool.news);
	pthread_mutex_unlock(&pool.lock);
}

static void close_batch(const struct batch *batch)
{
	struct batch **link = &pool.newest;

	pthread_mutex_lock(&pool.lock);
	while (*link != batch)
		link = &(*link)->older;
	*link = batch->older;
	pthread_mutex_unlock(&pool.lock);
}

/* May one more thread work? Then it is counted. */
static bool take_place(size_t most)
{
	bool has_room;

	pthread_mutex_lock(&pool.lock);
	has_room = pool.threads < most;
	pool.threads += has_room;
	pthread_mutex_unlock(&pool.lock);
	return has_room;
}

static void give_back(size_t places)
{
	pthread_mutex_lock(&pool.lock);
	pool.threads -= places;
	pthread_mutex_unlock(&pool.lock);
}

void jobs_run(struct job *jobs, size_t count)
{
	struct batch batch = {.jobs = jobs, .count = count};
	const size_t most = processors();
	const bool was_at_work = at_work;
	const size_t own_place = !was_at_work && take_place(THREADS_MAX);
	pthread_t threads[THREADS_MAX];
	size_t made = 0;

	at_work = true;
	open_batch(&batch);
	while (made + 1 < count && take_place(most)) {
		if (pthread_create(&threads[made], NULL, help, &batch)) {
			give_back(1);
			break;
		}
		made++;
	}
	work(&batch);
	for (size_t i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	close_batch(&batch);
	give_back(made + own_place);
	at_work = was_at_work;
}
