/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A connection that is aborted ends within so many bytes, as a power of two. */
#define ABORT_SHIFT_MIN 4
#define ABORT_SHIFT_MAX 17

/* Keep the memory of the buffers, forget everything else. */
static void forget(struct conn *conn)
{
	struct conn fresh = {
	    .client = conn->client,
	    .fd = -1,
	    .out = conn->out,
	    .answer_head = conn->answer_head,
	};

	fresh.out.len = 0;
	head_reset(&fresh.answer_head);
	*conn = fresh;
}

struct plan *conn_oldest(const struct conn *conn)
{
	return conn->unanswered[conn->oldest];
}

void conn_progress(struct conn *conn)
{
	uint64_t now = conn->client->now_ms;

	if (now - conn->progress_ms > conn->client->tally.stall_ms)
		conn->client->tally.stall_ms = now - conn->progress_ms;
	conn->progress_ms = now;
}

void conn_close(struct conn *conn)
{
	for (unsigned int i = 0; i < conn->count; i++)
		plan_free(conn->unanswered[(conn->oldest + i) % DEPTH_MAX]);
	plan_free(conn->next);
	if (conn->fd >= 0)
		close(conn->fd);
	forget(conn);
}

void conn_tell(struct conn *conn, enum verdict verdict, const struct plan *plan, const char *why)
{
	char what[PLAN_TEXT_MAX] = "no request", line[2 * PLAN_TEXT_MAX + 100];

	if (plan)
		plan_describe(plan, what, sizeof(what));
	snprintf(line, sizeof(line), "%s; local port %u, %u unanswered, after %s", what, conn->port,
		 conn->count, conn->previous[0] ? conn->previous : "none");
	tally_tell(&conn->client->tally, verdict, line, why);
}

void conn_fail(struct conn *conn, enum verdict verdict, const char *why)
{
	struct tally *tally = &conn->client->tally;
	unsigned int lost = conn->count + (conn->next ? 1 : 0);

	conn_tell(conn, verdict, conn->count ? conn_oldest(conn) : conn->next, why);
	if (!lost)
		tally->counts[verdict]++;
	while (lost--)
		tally_request(tally, verdict);
	conn_close(conn);
}

/* Its requests end like this, for which nobody but the client is to blame. */
void conn_abort(struct conn *conn)
{
	struct linger now = {.l_onoff = 1};
	unsigned int lost = conn->count + (conn->next ? 1 : 0);

	if (rng_percent(&conn->rng, 50))
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	while (lost--)
		tally_request(&conn->client->tally, VERDICT_ABORTED);
	conn_close(conn);
}

static void draw_abort(struct conn *conn)
{
	if (rng_percent(&conn->rng, conn->client->settings.aborts))
		conn->abort_left =
		    rng_between(&conn->rng, 1,
				1ull << rng_between(&conn->rng, ABORT_SHIFT_MIN, ABORT_SHIFT_MAX));
}

static void watch(struct conn *conn, int operation, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = conn};

	if (conn->events == events)
		return;
	conn->events = events;
	if (epoll_ctl(conn->client->epoll, operation, conn->fd, &event))
		conn_fail(conn, VERDICT_RESET, strerror(errno));
}

static void set_port(struct conn *conn)
{
	/* the port stands at the same place in sockaddr_in */
	struct sockaddr_in6 address = {0};
	socklen_t len = sizeof(address);

	if (!getsockname(conn->fd, (struct sockaddr *)&address, &len))
		conn->port = ntohs(address.sin6_port);
}

static int start_connect(struct conn *conn)
{
	const struct settings *settings = &conn->client->settings;
	int on = 1;

	conn->fd =
	    socket(settings->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (conn->fd < 0)
		return -errno;
	setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(conn->fd, (const struct sockaddr *)&settings->address, settings->address_len) &&
	    errno != EINPROGRESS)
		return -errno;
	set_port(conn);
	return 0;
}

void conn_open(struct conn *conn)
{
	struct client *client = conn->client;
	int err;

	if (!client_may_issue(client))
		return;
	forget(conn);
	conn->rng = rng_for(client->settings.seed + 3, client->opened++);
	conn->to_begin = client->settings.mode == MODE_NEW ? 1 : client->settings.per_connection;
	conn->state = CONN_OPENING;
	conn->progress_ms = client->now_ms;
	if (client->settings.aborts)
		draw_abort(conn);
	conn_draw_next(conn);
	err = start_connect(conn);
	if (err)
		conn_fail(conn, VERDICT_RESET, strerror(-err));
	else
		watch(conn, EPOLL_CTL_ADD, EPOLLOUT);
}

static void finish_connect(struct conn *conn)
{
	int err = 0;
	socklen_t len = sizeof(err);

	getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	if (err) {
		conn_fail(conn, VERDICT_RESET, strerror(err));
		return;
	}
	conn->state = CONN_OPEN;
	conn_progress(conn);
}

/* Nothing more to send: close our direction where it is for us to do so. */
static void settle(struct conn *conn)
{
	if (conn->shut || conn->sending || conn->next || conn->out.len)
		return;
	if (!conn->half_close && (conn->count || conn->server_closes))
		return;
	shutdown(conn->fd, SHUT_WR);
	conn->shut = true;
}

void conn_event(struct conn *conn, uint32_t events)
{
	if (conn->state == CONN_OPENING)
		finish_connect(conn);
	if (conn->state == CONN_OPEN && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		conn_receive(conn);
	if (conn->state == CONN_OPEN)
		conn_send(conn);
	if (conn->state != CONN_OPEN)
		return;
	settle(conn);
	watch(conn, EPOLL_CTL_MOD, conn->out.len ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Megabytes in the socket's buffer can take minutes over a bad link: what the peer takes counts. */
static void note_acknowledged(struct conn *conn)
{
	int queued;

	if (ioctl(conn->fd, SIOCOUTQ, &queued))
		return;
	if (queued < conn->queued)
		conn_progress(conn);
	conn->queued = queued;
}

/* What TCP was at: a link that took every copy looks other than numbers that are wrong. */
static void describe_stuck(const struct conn *conn, const char *why, char *to, size_t size)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	snprintf(to, size,
		 "%s (TCP: %d bytes queued, %u packets unacknowledged, %u timeouts, next after "
		 "%u ms; last sent %u, received %u, acknowledged %u ms ago)",
		 why, conn->queued, info.tcpi_unacked, info.tcpi_backoff, info.tcpi_rto / 1000,
		 info.tcpi_last_data_sent, info.tcpi_last_data_recv, info.tcpi_last_ack_recv);
}

void conn_check_time(struct conn *conn)
{
	const struct client *client = conn->client;
	const char *why = "no progress";
	char text[300];

	if (conn->state == CONN_OPEN)
		note_acknowledged(conn);
	if (conn->state == CONN_CLOSED ||
	    client->now_ms - conn->progress_ms < client->settings.stuck_ms)
		return;
	if (conn->state == CONN_OPENING)
		why = "no progress while connecting";
	else if (conn->out.len)
		why = "no progress while sending";
	else if (conn->count)
		why = "no progress while waiting for the answer";
	else
		why = "no progress while closing";
	describe_stuck(conn, why, text, sizeof(text));
	conn_fail(conn, VERDICT_STUCK, text);
}
