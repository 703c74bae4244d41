// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

#define ROUNDS 1000

static int truth = -1;
static volatile unsigned sink;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Functions with frames of their own, which no compiler makes one of. */
#define BURN(name, factor)                                                                         \
	__attribute__((noipa)) void burn_##name(unsigned us)                                       \
	{                                                                                          \
		uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + us * 1000;                           \
		unsigned value = sink;                                                             \
                                                                                                   \
		while (now(CLOCK_THREAD_CPUTIME_ID) < end)                                         \
			for (unsigned i = 0; i < ROUNDS; i++)                                      \
				value = value * (factor) + i;                                      \
		sink = value;                                                                      \
	}

BURN(a, 31)
BURN(b, 37)
BURN(background, 41)

void truth_open(void)
{
	const char *path = getenv("TRUTH");

	if (!path)
		return;
	truth = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (truth < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

void burn_slice(const char *id)
{
	uint64_t start = now(CLOCK_MONOTONIC);

	if (*id == 'a')
		burn_a(SLICE_US);
	else if (*id == 'b')
		burn_b(SLICE_US);
	else
		burn_background(SLICE_US);
	if (truth >= 0) /* one write with O_APPEND: lines of several threads do not mix */
		dprintf(truth, "%d %d %llu %llu %s\n", getpid(), gettid(),
			(unsigned long long)start, (unsigned long long)now(CLOCK_MONOTONIC), id);
}
