// SPDX-License-Identifier: Apache-2.0
/*
 * accuracy_epoll ADDRESS:PORT: one event loop, everything without blocking.
 *
 * MODE s: calls one after the other; p: all at once. A pause is a timer of the loop. Environment:
 * CONNECTIONS, the most connections to the upstream (calls queue for them; default: any number);
 * UNWATCHED=1, no connection of a client's is watched while its request is worked on;
 * BACKGROUND_MS, mean pause between calls that belong to no request; NOTES, when a connection's
 * object is told whose call it is (enum notes).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "plan.h"

#define EVENTS_MAX 64
#define FDS_MAX    65536
#define NO_TIMER   UINT64_MAX

/* When the object of a connection is told whose call is sent on it. */
enum notes {
	NOTES_FIRST, /* before that */
	NOTES_LATE,  /* after it */
	NOTES_LAST,  /* before; but who has called last is noted, too, if he did not have to wait */
	NOTES_LEFT,  /* that is all that is noted there, and calls of its own leave it as it is */
};

/* Where a client's request stands; BEFORE, BETWEEN and AFTER are pauses. */
enum stage { STAGE_IDLE, STAGE_BEFORE, STAGE_CALLS, STAGE_BETWEEN, STAGE_AFTER };

/* A client's connection and the request on it (one at a time). */
struct client {
	int fd;
	enum stage stage;
	unsigned begun, ended; /* calls */
	uint64_t due;          /* ms, of the pause */
	size_t used;
	struct plan plan;
	char text[HEAD_MAX];
	LIST_ENTRY(client) timers;
};

struct call {
	struct client *client; /* NULL: the program's own */
	STAILQ_ENTRY(call) queue;
};

/* A connection to the upstream; `call` is NULL while it is idle (or always: NOTES_LEFT). */
struct link {
	int fd;
	bool connected;
	size_t used;
	struct client *last;
	struct call *call;
	char text[HEAD_MAX];
	LIST_ENTRY(link) idle;
};

static LIST_HEAD(, client) timers = LIST_HEAD_INITIALIZER(timers);
static LIST_HEAD(, link) idle = LIST_HEAD_INITIALIZER(idle);
static STAILQ_HEAD(, call) queue = STAILQ_HEAD_INITIALIZER(queue);
static struct client *client_of[FDS_MAX];
static struct link *link_of[FDS_MAX];
static struct call *call_on[FDS_MAX];
static enum notes notes;
static unsigned long links, links_max, background_ms, unwatched;
static uint64_t background_due = NO_TIMER;
static int epoll;

static void advance(struct client *client);

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *zeroed(size_t size)
{
	void *object = calloc(1, size);

	if (!object)
		fail("calloc");
	return object;
}

static void watch(int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (fd < 0 || fd >= FDS_MAX || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		fail("watch");
}

/* Connects without blocking; the request follows at once, the kernel keeps it till then. */
static struct link *new_link(void)
{
	struct link *link = zeroed(sizeof(*link));
	struct sockaddr_in address = upstream_address();
	struct epoll_event event = {.events = EPOLLOUT};

	link->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (link->fd < 0 || link->fd >= FDS_MAX)
		fail("socket");
	if (connect(link->fd, (struct sockaddr *)&address, sizeof(address)) && errno != EINPROGRESS)
		fail("connect");
	set_nodelay(link->fd);
	event.data.fd = link->fd;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, link->fd, &event))
		fail("epoll_ctl");
	link_of[link->fd] = link;
	links++;
	return link;
}

static void send_call(struct link *link, const struct call *call)
{
	char text[CALL_MAX];
	const struct client *client = call->client;
	size_t length = call_text(client ? client->plan.truth : "none", text);

	link->used = 0;
	if (send(link->fd, text, length, MSG_NOSIGNAL) != (ssize_t)length)
		fail("send");
}

static void note(struct link *link, struct call *call, bool waited)
{
	bool last = notes == NOTES_LAST ? !waited : notes == NOTES_LEFT;

	call_on[link->fd] = call;
	if (last && call->client)
		link->last = call->client;
	if (notes != NOTES_LEFT)
		link->call = call;
}

/* Who calls has got a connection; if that is open the call is sent, else when it is. */
static void give(struct link *link, struct call *call, bool waited)
{
	if (notes != NOTES_LATE)
		note(link, call, waited);
	if (link->connected)
		send_call(link, call);
	if (notes == NOTES_LATE)
		note(link, call, waited);
}

/* Give queued calls the connections that are free or may be made. */
static void run_queue(bool waited)
{
	while (!STAILQ_EMPTY(&queue)) {
		struct link *link = LIST_FIRST(&idle);
		struct call *call = STAILQ_FIRST(&queue);

		if (!link && links >= links_max)
			return;
		if (link)
			LIST_REMOVE(link, idle);
		else
			link = new_link();
		STAILQ_REMOVE_HEAD(&queue, queue);
		give(link, call, waited);
	}
}

static void begin_call(struct client *client)
{
	struct call *call = zeroed(sizeof(*call));

	call->client = client;
	STAILQ_INSERT_TAIL(&queue, call, queue);
	if (client)
		client->begun++;
	run_queue(false);
}

static void end_call(struct link *link)
{
	struct client *client = call_on[link->fd]->client;

	free(call_on[link->fd]);
	call_on[link->fd] = NULL;
	if (notes != NOTES_LATE)
		link->call = NULL;
	LIST_INSERT_HEAD(&idle, link, idle);
	if (client) {
		client->ended++;
		advance(client);
	}
	run_queue(true);
}

static void on_link(struct link *link, uint32_t events)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = link->fd};
	size_t last = strlen(LAST_BYTES);
	ssize_t n;

	if (events & EPOLLOUT) {
		link->connected = true;
		if (epoll_ctl(epoll, EPOLL_CTL_MOD, link->fd, &event))
			fail("epoll_ctl");
		send_call(link, call_on[link->fd]);
		return;
	}
	n = recv(link->fd, link->text + link->used, HEAD_MAX - link->used, 0);
	if (n <= 0)
		fail("recv from the upstream");
	link->used += (size_t)n;
	if (link->used >= last && !memcmp(link->text + link->used - last, LAST_BYTES, last))
		end_call(link);
}

static bool sleep_for(struct client *client, unsigned ms)
{
	if (!ms)
		return false;
	client->due = now_ms() + ms;
	LIST_INSERT_HEAD(&timers, client, timers);
	return true;
}

static void drop(struct client *client)
{
	client_of[client->fd] = NULL;
	close(client->fd);
	free(client);
}

static void answer(struct client *client)
{
	const char *text = client->plan.close ? ANSWER_CLOSE : ANSWER_OK;

	client->stage = STAGE_IDLE;
	client->used = 0;
	if (unwatched)
		watch(client->fd);
	if (send(client->fd, text, strlen(text), MSG_NOSIGNAL) < 0 || client->plan.close)
		drop(client);
}

static void begin_calls(struct client *client)
{
	unsigned n = client->plan.mode == 'p' ? client->plan.calls : 1;

	client->stage = STAGE_CALLS;
	while (n--)
		begin_call(client);
}

static void finish(struct client *client)
{
	client->stage = STAGE_AFTER;
	if (!sleep_for(client, client->plan.after))
		answer(client);
}

static void begin(struct client *client)
{
	client->stage = STAGE_BEFORE;
	client->begun = client->ended = 0;
	if (!sleep_for(client, client->plan.before))
		advance(client);
}

static void on_call_ended(struct client *client)
{
	if (client->ended < client->begun)
		return;
	if (client->ended == client->plan.calls)
		return finish(client);
	client->stage = STAGE_BETWEEN;
	if (!sleep_for(client, client->plan.between))
		begin_calls(client);
}

/* A request came, a pause is over, or a call ended: what is next. */
static void advance(struct client *client)
{
	switch (client->stage) {
	case STAGE_IDLE:
		return begin(client);
	case STAGE_BEFORE:
		if (!client->plan.calls)
			return finish(client);
		return begin_calls(client);
	case STAGE_CALLS:
		return on_call_ended(client);
	case STAGE_BETWEEN:
		return begin_calls(client);
	case STAGE_AFTER:
		return answer(client);
	}
}

static void on_client(struct client *client)
{
	ssize_t n = recv(client->fd, client->text + client->used, HEAD_MAX - 1 - client->used, 0);

	if (client->stage != STAGE_IDLE)
		fail("a client did not wait for its answer");
	if (n <= 0)
		return drop(client);
	client->used += (size_t)n;
	client->text[client->used] = '\0';
	if (client->used < 4 || strcmp(client->text + client->used - 4, "\r\n\r\n"))
		return;
	if (plan_read(client->text, &client->plan))
		return drop(client);
	if (unwatched && epoll_ctl(epoll, EPOLL_CTL_DEL, client->fd, NULL))
		fail("epoll_ctl");
	advance(client);
}

static void on_listener(int listener)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct client *client = zeroed(sizeof(*client));

		watch(fd);
		set_nodelay(fd);
		client->fd = fd;
		client_of[fd] = client;
	}
}

static void run_timers(void)
{
	struct client *client, *next;
	uint64_t now = now_ms();

	for (client = LIST_FIRST(&timers); client; client = next) {
		next = LIST_NEXT(client, timers);
		if (client->due > now)
			continue;
		LIST_REMOVE(client, timers);
		advance(client);
	}
	if (background_due <= now) {
		background_due = now + (uint64_t)random() % (2 * background_ms);
		begin_call(NULL);
	}
}

/* Milliseconds until the next timer; -1: there is none. */
static int timeout(void)
{
	const struct client *client;
	uint64_t due = background_due, now = now_ms();

	LIST_FOREACH(client, &timers, timers)
	{
		if (client->due < due)
			due = client->due;
	}
	if (due == NO_TIMER)
		return -1;
	return due > now ? (int)(due - now) : 0;
}

static void loop(int listener)
{
	struct epoll_event events[EVENTS_MAX];

	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS_MAX, timeout());

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (fd == listener)
				on_listener(listener);
			else if (link_of[fd])
				on_link(link_of[fd], events[i].events);
			else if (client_of[fd])
				on_client(client_of[fd]);
		}
		run_timers();
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = address_of(argc == 2 ? argv[1] : "");
	int listener = listen_at(&address, SOCK_NONBLOCK);

	links_max = env_number("CONNECTIONS", FDS_MAX);
	background_ms = env_number("BACKGROUND_MS", 0);
	unwatched = env_number("UNWATCHED", 0);
	notes = env_number("NOTES", NOTES_FIRST);
	if (background_ms)
		background_due = now_ms();
	epoll = epoll_create1(EPOLL_CLOEXEC);
	watch(listener);
	loop(listener);
}
