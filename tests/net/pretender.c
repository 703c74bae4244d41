// SPDX-License-Identifier: Apache-2.0
/*
 * pretender ADDRESS:PORT HOW: a server in C, a thread per connection, that is taken for Ruby 3.1:
 * it has the library, and gives each thread an execution context (rb_execution_context_t) of its
 * own making. Each request makes a call to $UPSTREAM, with its x-truth.
 *
 * HOW "cycle": whatever it points to is itself. "wild": it points nowhere. "counts": its sizes are
 * as large as numbers get. "claims": its stack holds the connections of all threads.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIBRARY  "libruby-3.1.so.3.1"
#define WORDS    4096
#define WILD     0xdead0000dead0ULL
#define HEAD_MAX 4096
#define ANSWER   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define OBJECTS  64
#define IO_TYPE  0x0b /* T_FILE */

/* Words of an execution context, and of a control frame. */
enum { STACK, SIZE, FRAME };
enum { FRAME_SP = 1, FRAME_SELF = 3 };

static const char *how;
static void *library;
static uint64_t objects[OBJECTS][8]; /* connections, as far as somebody else can tell */
static int taken;

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

static void fill(uint64_t *words, uint64_t with)
{
	for (int i = 0; i < WORDS; i++)
		words[i] = with;
}

/* A stack with all connections, the innermost frame at its end, whose method is one of `self`. */
static void claim(uint64_t *words, uint64_t *self)
{
	uint64_t *stack = &words[64], *frame = &words[WORDS - 8];

	words[STACK] = (uintptr_t)stack;
	words[SIZE] = WORDS - 64;
	words[FRAME] = (uintptr_t)frame;
	for (int i = 0; i < OBJECTS; i++)
		stack[i] = (uintptr_t)objects[i];
	frame[FRAME_SP] = (uintptr_t)&stack[OBJECTS];
	frame[FRAME_SELF] = (uintptr_t)self;
}

/* This thread's context from now on, which lies. */
static void forge(int number)
{
	uint64_t *words = calloc(WORDS, sizeof(*words)), **context;

	if (!strcmp(how, "wild"))
		fill(words, WILD);
	else if (!strcmp(how, "cycle"))
		fill(words, (uintptr_t)words);
	else
		claim(words, objects[number % OBJECTS]);
	if (!strcmp(how, "counts")) {
		words[SIZE] = UINT64_MAX / 8;
		((uint64_t *)words[FRAME])[FRAME_SP] = UINT64_MAX;
	}
	context = dlsym(library, "ruby_current_ec"); /* thread-local */
	*context = words;
}

static void call(const char *truth)
{
	const struct sockaddr_in upstream = address_of(getenv("UPSTREAM"));
	char text[HEAD_MAX];
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	const int size = snprintf(text, sizeof(text),
				  "GET /call HTTP/1.1\r\nHost: h\r\nx-truth: %.60s\r\n\r\n", truth);

	if (!connect(fd, (const struct sockaddr *)&upstream, sizeof(upstream)) &&
	    write(fd, text, (size_t)size) == size && read(fd, text, sizeof(text)) < 0)
		perror("upstream");
	close(fd);
}

static void *serve(void *data)
{
	const int fd = (int)(intptr_t)data;
	char head[HEAD_MAX], truth[64];
	const char *found;
	ssize_t size;

	forge(__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED));
	while ((size = read(fd, head, sizeof(head) - 1)) > 0) {
		head[size] = truth[0] = '\0';
		found = strstr(head, "x-truth: ");
		if (found)
			sscanf(found, "x-truth: %63[^\r]", truth);
		call(truth);
		if (write(fd, ANSWER, sizeof(ANSWER) - 1) < 0)
			break;
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sockaddr_in here = address_of(argc > 2 ? argv[1] : "");
	const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	pthread_t thread;

	library = dlopen(LIBRARY, RTLD_NOW);
	how = argc > 2 ? argv[2] : "";
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (!library || !getenv("UPSTREAM") ||
	    bind(listener, (const struct sockaddr *)&here, sizeof(here)) || listen(listener, 64)) {
		perror(argv[0]);
		return 1;
	}
	for (int i = 0; i < OBJECTS; i++)
		objects[i][0] = IO_TYPE;
	for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;)
		if (!pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd))
			pthread_detach(thread);
	return 1;
}
