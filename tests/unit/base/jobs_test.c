// SPDX-License-Identifier: Apache-2.0
/* Jobs side by side, and jobs that run jobs: each once, by no more threads than there are
 * processors. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/jobs.h"

#define JOBS 8

static atomic_int at_work, most_at_work;
static pthread_t ran_by[JOBS];

static int small_job(void *data)
{
	pthread_t *by = data;
	int now = atomic_fetch_add(&at_work, 1) + 1, most = most_at_work;

	while (now > most && !atomic_compare_exchange_weak(&most_at_work, &most, now))
		;
	*by = pthread_self();
	usleep(20000);
	at_work--;
	return by == &ran_by[1] ? -EIO : 0;
}

static int run_small_jobs(void *data)
{
	struct job jobs[JOBS];

	(void)data;
	for (int i = 0; i < JOBS; i++)
		jobs[i] = (struct job){.run = small_job, .data = &ran_by[i]};
	jobs_run(jobs, JOBS);
	for (int i = 0; i < JOBS; i++)
		assert_int_equal(jobs[i].err, i == 1 ? -EIO : 0);
	return 0;
}

static int nothing(void *data)
{
	(void)data;
	return 0;
}

static int usable_processors(void)
{
	cpu_set_t usable;

	assert_int_equal(sched_getaffinity(0, sizeof(usable), &usable), 0);
	return CPU_COUNT(&usable);
}

/* Who has nothing left to do for its own batch helps with the jobs of a job. */
static void jobs_of_jobs(void **state)
{
	struct job outer[] = {{.run = run_small_jobs}, {.run = nothing}};
	int others = 0;

	(void)state;
	for (int round = 0; round < 10; round++)
		jobs_run(outer, 2);
	assert_in_range(most_at_work, 1, usable_processors());
	for (int i = 1; i < JOBS; i++)
		others += !pthread_equal(ran_by[i], ran_by[0]);
	if (usable_processors() > 1)
		assert_true(others);
}

static void of_two_callers(void **state)
{
	pthread_t other;

	(void)state;
	assert_int_equal(
	    pthread_create(&other, NULL, (void *(*)(void *))(void *)run_small_jobs, NULL), 0);
	run_small_jobs(NULL);
	pthread_join(other, NULL);
	assert_int_equal(at_work, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(jobs_of_jobs),
	    cmocka_unit_test(of_two_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
