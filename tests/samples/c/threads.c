// SPDX-License-Identifier: Apache-2.0
/*
 * samples_threads PORT [helper] [background]
 *
 * A thread per connection burns a slice for each request, sleeps, and burns another one; helper:
 * that is done by a thread made for it. background: one more thread burns for nobody.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"

static bool with_helper;

static pthread_t start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, arg)) {
		perror("pthread_create");
		exit(EXIT_FAILURE);
	}
	return thread;
}

static void *help(void *id)
{
	burn_slice(id);
	return NULL;
}

static void work(char *id)
{
	burn_slice(id);
	usleep(PAUSE_US);
	if (with_helper)
		pthread_join(start(help, id), NULL);
	else
		burn_slice(id);
}

static void *serve(void *arg)
{
	struct stream stream = {.fd = (int)(intptr_t)arg};
	char id[ID_MAX];

	while (http_fill(&stream)) {
		while (http_take(&stream, id)) {
			work(id);
			if (!http_answer(stream.fd))
				break;
		}
	}
	close(stream.fd);
	return NULL;
}

static void *background(void *arg)
{
	for (;;) {
		burn_slice("-");
		usleep(BACKGROUND_MS * 1000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int listener = http_listen(argv[1]), fd;

	truth_open();
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "helper"))
			with_helper = true;
		else
			pthread_detach(start(background, NULL));
	}
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		pthread_detach(start(serve, (void *)(intptr_t)fd));
	return EXIT_FAILURE;
}
