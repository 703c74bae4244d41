// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "labels_burn.h"
#include "signals.h"

#define HOW "PROFILE_LABELS_HOW"

static const struct labels_writer *writer;
static double end;

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void burn(void)
{
	const double until = now(CLOCK_THREAD_CPUTIME_ID) + LABELS_BURN_US * 1e-6;
	volatile uint32_t x = 1;

	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		for (int i = 0; i < 20000; i++)
			x = x * 1664525 + 1013904223;
}

/*
 * The barrier keeps a call a call: it would be a jump else, and the function in no stack. Its text
 * keeps functions apart that are the same else.
 */
#define BURN(name)                                                                                 \
	void name(void);                                                                           \
	__attribute__((noinline)) void name(void)                                                  \
	{                                                                                          \
		burn();                                                                            \
		__asm__ __volatile__("# " #name ::: "memory");                                     \
	}
BURN(burn_0)
BURN(burn_1)
BURN(burn_2)
BURN(burn_3)
BURN(burn_plain)

static void (*const burns[LABELS_THREADS])(void) = {burn_0, burn_1, burn_2, burn_3};

static int is_how(const char *word)
{
	const char *how = getenv(HOW);

	return how && !strcmp(how, word);
}

double labels_now(void)
{
	return now(CLOCK_MONOTONIC);
}

void labels_burn_thread(int n, double seconds)
{
	const double until = labels_now() + seconds;

	while (labels_now() < until)
		burns[n]();
}

void labels_burn_plain(double seconds)
{
	const double until = labels_now() + seconds;

	while (labels_now() < until)
		burn_plain();
}

static void *run(void *data)
{
	const int n = *(const int *)data;

	if (is_how("signals"))
		signals_take();
	writer->begin(n);
	while (now(CLOCK_MONOTONIC) < end) {
		writer->set(n);
		burns[n]();
		writer->clear(n);
		burn_plain();
	}
	return NULL;
}

/* A thread that ends while it has its label. */
static void *run_once(void *data)
{
	const int n = *(const int *)data;

	burn_plain();
	writer->begin(n);
	writer->set(n);
	burns[n]();
	return NULL;
}

/* Thread after thread, each of which may get the memory of another one that has ended. */
static void *run_threads(void *data)
{
	pthread_t thread;

	while (now(CLOCK_MONOTONIC) < end)
		if (!pthread_create(&thread, NULL, run_once, data))
			pthread_join(thread, NULL);
	return NULL;
}

int labels_burn(const struct labels_writer *with, double seconds)
{
	static const int number[LABELS_THREADS] = {0, 1, 2, 3};
	void *(*const body)(void *) = is_how("threads") ? run_threads : run;
	pthread_t thread[LABELS_THREADS];

	writer = with;
	end = now(CLOCK_MONOTONIC) + seconds;
	for (int n = 0; n < LABELS_THREADS; n++)
		if (pthread_create(&thread[n], NULL, body, (void *)&number[n]))
			return EXIT_FAILURE;
	for (int n = 0; n < LABELS_THREADS; n++)
		pthread_join(thread[n], NULL);
	return EXIT_SUCCESS;
}

int labels_main(const struct labels_writer *with, int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "%s SECONDS\n", argv[0]);
		return EXIT_FAILURE;
	}
	return labels_burn(with, strtod(argv[1], NULL));
}
