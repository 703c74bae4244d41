// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/jobs.h"
#include "base/stop.h"

#define THREADS_MAX 4

struct batch {
	struct job *jobs;
	size_t count;
	atomic_size_t next;
};

static void *work(void *data)
{
	struct batch *batch = data;
	size_t i;

	while ((i = atomic_fetch_add(&batch->next, 1)) < batch->count) {
		struct job *job = &batch->jobs[i];

		job->err = stop_asked() ? -ECANCELED : job->run(job->data);
	}
	return NULL;
}

static size_t threads_for(size_t count)
{
	cpu_set_t usable;
	size_t processors = sched_getaffinity(0, sizeof(usable), &usable)
				? THREADS_MAX
				: (size_t)CPU_COUNT(&usable);

	if (processors > THREADS_MAX)
		processors = THREADS_MAX;
	return processors < count ? processors : count;
}

void jobs_run(struct job *jobs, size_t count)
{
	struct batch batch = {.jobs = jobs, .count = count};
	size_t wanted = threads_for(count), made = 0;
	pthread_t threads[THREADS_MAX];

	/* The caller is one of them. */
	while (made + 1 < wanted && !pthread_create(&threads[made], NULL, work, &batch))
		made++;
	work(&batch);
	while (made)
		pthread_join(threads[--made], NULL);
}
