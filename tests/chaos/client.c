/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chaos client: generated requests over many connections, each answer checked. One thread,
 * epoll. See --help.
 */
#include "conn.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 128
#define TICK_MS    200

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
	(void)signal;
	stopped = 1;
}

static uint64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool client_may_issue(const struct client *client)
{
	const struct settings *settings = &client->settings;

	if (stopped || client->issued >= settings->requests)
		return false;
	return !settings->seconds ||
	       client->now_ms - client->started_ms < settings->seconds * 1000ull;
}

/* Reopen what is closed; true while anything is open. */
static bool keep_open(struct client *client, struct conn *conns)
{
	bool open = false;

	for (unsigned int i = 0; i < client->settings.connections; i++) {
		if (conns[i].state == CONN_CLOSED)
			conn_open(&conns[i]);
		open = open || conns[i].state != CONN_CLOSED;
	}
	return open;
}

static void check_times(struct client *client, struct conn *conns)
{
	for (unsigned int i = 0; i < client->settings.connections; i++)
		conn_check_time(&conns[i]);
}

static void dispatch(struct client *client, const struct epoll_event *events, int count)
{
	client->now_ms = clock_ms();
	for (int i = 0; i < count; i++) {
		struct conn *conn = events[i].data.ptr;

		conn_event(conn, events[i].events);
		if (conn->state == CONN_CLOSED)
			conn_open(conn);
	}
}

static void run(struct client *client, struct conn *conns)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t ticked = 0;

	for (;;) {
		int n;

		if (client->now_ms - ticked >= TICK_MS) {
			ticked = client->now_ms;
			check_times(client, conns);
			if (!keep_open(client, conns))
				return;
		}
		n = epoll_wait(client->epoll, events, EVENTS_MAX, TICK_MS);
		dispatch(client, events, n);
	}
}

static struct conn *make_conns(struct client *client)
{
	struct conn *conns = calloc(client->settings.connections, sizeof(*conns));

	if (!conns) {
		fprintf(stderr, "client: no memory for %u connections\n",
			client->settings.connections);
		exit(2);
	}
	for (unsigned int i = 0; i < client->settings.connections; i++) {
		conns[i].client = client;
		conns[i].fd = -1;
	}
	return conns;
}

static void free_conns(struct client *client, struct conn *conns)
{
	for (unsigned int i = 0; i < client->settings.connections; i++) {
		buffer_free(&conns[i].out);
		buffer_free(&conns[i].answer_head.bytes);
	}
	free(conns);
	ids_free(&client->seen.traces);
	ids_free(&client->seen.spans);
}

int main(int argc, char **argv)
{
	struct client client = {0};
	struct rlimit files = {20000, 20000};
	struct conn *conns;

	settings_read(&client.settings, argc, argv);
	setrlimit(RLIMIT_NOFILE, &files);
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	client.epoll = epoll_create1(EPOLL_CLOEXEC);
	client.started_ms = client.now_ms = clock_ms();
	conns = make_conns(&client);
	run(&client, conns);
	client.tally.injected = client.seen.spans.count;
	tally_print(&client.tally, (double)(clock_ms() - client.started_ms) / 1000, stdout);
	free_conns(&client, conns);
	close(client.epoll);
	return tally_is_clean(&client.tally) ? 0 : 1;
}
