// SPDX-License-Identifier: Apache-2.0
/*
 * labels_reload SECONDS LIBRARY DECOY
 *
 * Labels by a library (labels_custom.c) that is loaded, and closed again while threads have labels;
 * then a decoy has its place, which looks alike but is no library of labels. Threads are in
 * burn_plain() while there are no labels any more.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "labels_burn.h"

#define LABELLED_SECONDS 3.0 /* more than it takes to find out that a library was opened */
#define PLAIN_SECONDS    0.5

static const struct labels_writer *writer;
static pthread_barrier_t step;
static int over;

static void *loaded(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);

	writer = handle ? dlsym(handle, "labels_library_writer") : NULL;
	if (writer)
		return handle;
	fprintf(stderr, "labels_reload: %s\n", dlerror());
	exit(EXIT_FAILURE);
}

static void closed(void *handle, const char *library)
{
	if (!dlclose(handle) && !dlopen(library, RTLD_NOW | RTLD_NOLOAD))
		return;
	fprintf(stderr, "labels_reload: %s stays loaded\n", library);
	exit(EXIT_FAILURE);
}

/* What is between two steps is done while the main thread waits for the second one. */
static void *run(void *data)
{
	const int n = *(const int *)data;

	for (;;) {
		pthread_barrier_wait(&step);
		if (over)
			return NULL;
		writer->begin(n);
		writer->set(n);
		labels_burn_thread(n, LABELLED_SECONDS);
		pthread_barrier_wait(&step);
		pthread_barrier_wait(&step);
		labels_burn_plain(PLAIN_SECONDS);
		pthread_barrier_wait(&step);
		pthread_barrier_wait(&step);
		if (n % 2) { /* the others never come to know that there is a decoy */
			writer->begin(n);
			writer->set(n);
		}
		labels_burn_plain(PLAIN_SECONDS);
		pthread_barrier_wait(&step);
	}
}

/* The threads do something while this waits. */
static void let_threads(void)
{
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
}

static void cycle(const char *library, const char *decoy)
{
	void *handle = loaded(library);

	let_threads();
	closed(handle, library);
	let_threads();
	handle = loaded(decoy);
	let_threads();
	closed(handle, decoy);
}

int main(int argc, char **argv)
{
	static const int number[LABELS_THREADS] = {0, 1, 2, 3};
	pthread_t thread[LABELS_THREADS];
	double end;

	if (argc != 4) {
		fprintf(stderr, "%s SECONDS LIBRARY DECOY\n", argv[0]);
		return EXIT_FAILURE;
	}
	end = labels_now() + strtod(argv[1], NULL);
	pthread_barrier_init(&step, NULL, LABELS_THREADS + 1);
	for (int n = 0; n < LABELS_THREADS; n++)
		if (pthread_create(&thread[n], NULL, run, (void *)&number[n]))
			return EXIT_FAILURE;
	while (labels_now() < end)
		cycle(argv[2], argv[3]);
	over = 1;
	pthread_barrier_wait(&step);
	for (int n = 0; n < LABELS_THREADS; n++)
		pthread_join(thread[n], NULL);
	return EXIT_SUCCESS;
}
