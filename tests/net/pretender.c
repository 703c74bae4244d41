// SPDX-License-Identifier: Apache-2.0
/*
 * pretender RUNTIME ADDRESS:PORT HOW LIBRARY: a server in C, a thread per connection, that is taken
 * for a runtime (ruby, node, java) because it has a library of that, and whose threads' structures
 * lie. Each request makes a call to $UPSTREAM, with its x-truth; GET /hold is never answered.
 *
 * HOW "cycle": whatever it points to leads to itself. "wild": it points nowhere. "counts": its
 * sizes are as large as numbers get. "claims": it has the connections of all threads. "first": what
 * it has is that of the first one. "others" (node): they are those of the process $VICTIM, whose
 * descriptors it has taken.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pretend.h"

#define HEAD_MAX  4096
#define TRUTH_MAX 64
#define ANSWER    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static const struct pretense *pretense;
static const char *how;

/* A call that is given to the thread which makes them. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	const char *truth; /* NULL: there is none */
	bool done;
} job = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

bool pretend_is(const char *what)
{
	return !strcmp(how, what);
}

static struct sockaddr_in address_of(const char *text)
{
	char host[32] = "";
	unsigned int port = 0;
	struct sockaddr_in address = {.sin_family = AF_INET};

	sscanf(text, "%31[0-9.]:%u", host, &port);
	address.sin_addr.s_addr = inet_addr(host);
	address.sin_port = htons((uint16_t)port);
	return address;
}

static void call(const char *truth)
{
	const struct sockaddr_in upstream = address_of(getenv("UPSTREAM"));
	char text[HEAD_MAX];
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	const int size = snprintf(text, sizeof(text),
				  "GET /call HTTP/1.1\r\nHost: h\r\nx-truth: %.60s\r\n\r\n", truth);

	if (!connect(fd, (const struct sockaddr *)&upstream, sizeof(upstream)) &&
	    (pretense->write ? pretense->write : write)(fd, text, (size_t)size) == size &&
	    read(fd, text, sizeof(text)) < 0)
		perror("upstream");
	close(fd);
}

/* Have the other thread make the call. */
static void hand_over(const char *truth)
{
	pthread_mutex_lock(&job.mutex);
	while (job.truth)
		pthread_cond_wait(&job.changed, &job.mutex);
	job.truth = truth;
	job.done = false;
	pthread_cond_broadcast(&job.changed);
	while (!job.done)
		pthread_cond_wait(&job.changed, &job.mutex);
	job.truth = NULL;
	pthread_cond_broadcast(&job.changed);
	pthread_mutex_unlock(&job.mutex);
}

static void *work(void *data)
{
	(void)data;
	pretense->works();
	pthread_mutex_lock(&job.mutex);
	for (;;) {
		while (!job.truth || job.done)
			pthread_cond_wait(&job.changed, &job.mutex);
		call(job.truth);
		job.done = true;
		pthread_cond_broadcast(&job.changed);
	}
	return NULL;
}

static void *serve(void *data)
{
	const int fd = (int)(intptr_t)data;
	char head[HEAD_MAX], truth[TRUTH_MAX];
	const char *found;
	ssize_t size;

	pretense->take(fd);
	while ((size = read(fd, head, sizeof(head) - 1)) > 0) {
		head[size] = truth[0] = '\0';
		if (!strncmp(head, "GET /hold ", strlen("GET /hold ")))
			continue;
		found = strstr(head, "x-truth: ");
		if (found)
			sscanf(found, "x-truth: %63[^\r]", truth);
		(pretense->hands_over ? hand_over : call)(truth);
		if (write(fd, ANSWER, sizeof(ANSWER) - 1) < 0)
			break;
	}
	close(fd);
	return NULL;
}

/* The runtime of this name; NULL: there is none. */
static const struct pretense *find(const char *name)
{
	static const struct pretense *const all[] = {&pretend_ruby, &pretend_node, &pretend_java};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}

static void begin(void *(*run)(void *), void *data)
{
	pthread_t made;

	if (!pthread_create(&made, NULL, run, data))
		pthread_detach(made);
}

int main(int argc, char **argv)
{
	const struct sockaddr_in here = address_of(argc == 5 ? argv[2] : "");
	const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	void *library = argc == 5 ? dlopen(argv[4], RTLD_NOW) : NULL;

	pretense = argc == 5 ? find(argv[1]) : NULL;
	how = argc == 5 ? argv[3] : "";
	if (!library || !pretense || !getenv("UPSTREAM")) {
		fprintf(stderr, "pretender: %s\n", argc == 5 && !library ? dlerror() : "bad words");
		return 2;
	}
	pretense->begin(library);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener, (const struct sockaddr *)&here, sizeof(here)) || listen(listener, 64)) {
		perror(argv[0]);
		return 1;
	}
	if (pretense->hands_over)
		begin(work, NULL);
	for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;)
		begin(serve, (void *)(intptr_t)fd);
	return 1;
}
