// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

static int truth = -1;

void truth_open(const char *path)
{
	truth = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (truth < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A function of its own, which samples show. */
static __attribute__((noinline)) void burn_until(uint64_t cpu_ns)
{
	while (now(CLOCK_THREAD_CPUTIME_ID) < cpu_ns)
		burn_round();
}

uint64_t truth_now(void)
{
	return now(CLOCK_MONOTONIC);
}

void truth_write(uint64_t start, uint64_t end, const char *id)
{
	/* One write with O_APPEND: lines of several threads do not mix. */
	dprintf(truth, "%d %d %llu %llu %s\n", getpid(), gettid(), (unsigned long long)start,
		(unsigned long long)end, id);
}

void burn(const struct work *work)
{
	uint64_t start, cpu = now(CLOCK_THREAD_CPUTIME_ID);

	writer_begin(work);
	start = truth_now();
	burn_until(cpu + work->cpu_us * 500);
	writer_halfway(work);
	burn_until(cpu + work->cpu_us * 1000);
	truth_write(start, truth_now(), work->id);
	writer_end(work);
}
