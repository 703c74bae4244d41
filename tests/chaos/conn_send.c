/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* Requests that share one send() in a pipeline end here at the latest. */
#define BATCH_MAX 4096

void conn_draw_next(struct conn *conn)
{
	struct client *client = conn->client;
	bool first = conn->state == CONN_OPENING, last;

	if (conn->next || !conn->to_begin || !client_may_issue(client))
		return;
	last = --conn->to_begin == 0 || client->issued + 1 == client->settings.requests;
	conn->next = plan_new(&client->settings, client->issued++, first, last);
}

static bool fits_pipeline(const struct conn *conn, const struct plan *plan)
{
	const struct settings *settings = &conn->client->settings;

	if (!conn->count)
		return true;
	if (settings->mode != MODE_PIPELINE || conn->count >= settings->depth)
		return false;
	if (plan->stream != STREAM_HTTP)
		return false;
	return conn->unanswered_bytes + plan_size(plan) <= settings->budget;
}

static bool begin_next(struct conn *conn)
{
	struct plan *plan;

	conn_draw_next(conn);
	plan = conn->next;
	if (!plan || !fits_pipeline(conn, plan) || (conn->out.len && plan->cut != CUT_WHOLE))
		return false;
	conn->next = NULL;
	conn->sending = plan;
	conn->unanswered[(conn->oldest + conn->count++) % DEPTH_MAX] = plan;
	conn->unanswered_bytes += plan_size(plan);
	conn->server_closes = plan->closes || plan->stream != STREAM_HTTP;
	return true;
}

void conn_begin_tunnel(struct conn *conn, const struct plan *plan)
{
	uint64_t length = htobe64(plan->body_length);

	conn->tunnel = true;
	conn->reply_len = 0;
	buffer_append(&conn->out, &length, sizeof(length));
}

static void queue_head(struct conn *conn, struct plan *plan)
{
	buffer_append(&conn->out, plan->head.data, plan->head.len);
	plan->head_queued = true;
	if (plan->cut != CUT_WHOLE)
		conn->cut_left = plan->head.len;
	if (plan->stream == STREAM_RAW)
		conn_begin_tunnel(conn, plan);
	else if (plan->cut == CUT_WHOLE && plan->stream == STREAM_HTTP && !plan->expects)
		body_write(&plan->body, &conn->out);
}

static bool must_wait(const struct conn *conn, const struct plan *plan)
{
	return (plan->expects && !plan->continued) ||
	       (plan->stream != STREAM_HTTP && !conn->tunnel);
}

static void finish_sending(struct conn *conn)
{
	conn->half_close = conn->sending->half_close;
	conn->sending = NULL;
}

/* Queue the next bytes of the stream. False when nothing can be sent now. */
static bool refill(struct conn *conn)
{
	struct plan *plan = conn->sending;

	if (!plan) {
		if (!begin_next(conn))
			return false;
		plan = conn->sending;
	}
	if (!plan->head_queued) {
		queue_head(conn, plan);
	} else if (must_wait(conn, plan)) {
		return false;
	} else if (!plan->body.done) {
		body_write(&plan->body, &conn->out);
	}
	if (plan->body.done && !must_wait(conn, plan))
		finish_sending(conn);
	return true;
}

/* Half of the time as many short requests as may be go into one send. */
static bool refill_batch(struct conn *conn)
{
	bool batch = rng_percent(&conn->rng, 50);

	if (!refill(conn))
		return false;
	while (batch && !conn->sending && !conn->cut_left && conn->out.len < BATCH_MAX) {
		if (!refill(conn))
			break;
	}
	return true;
}

/* How many bytes the next send() may take, as far as the way goes in which the head is cut. */
static size_t piece(struct conn *conn)
{
	const struct plan *plan = conn->unanswered[(conn->oldest + conn->count - 1) % DEPTH_MAX];

	if (!conn->cut_left)
		return conn->out.len - conn->out_at;
	switch (plan->cut) {
	case CUT_TWO:
		return conn->cut_left == plan->head.len ? plan->cut_at : conn->cut_left;
	case CUT_PIECES:
		return rng_between(&conn->rng, 1, conn->cut_left < 200 ? conn->cut_left : 200);
	case CUT_BYTES:
		return 1;
	default:
		return conn->cut_left;
	}
}

static bool send_piece(struct conn *conn)
{
	size_t len = piece(conn);
	ssize_t n;

	if (conn->abort_left && conn->abort_left < len)
		len = conn->abort_left;
	n = send(conn->fd, conn->out.data + conn->out_at, len, MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN)
		conn_fail(conn, VERDICT_RESET, strerror(errno));
	if (n < 0)
		return false;
	conn_progress(conn);
	conn->out_at += (size_t)n;
	if (conn->cut_left)
		conn->cut_left -= (size_t)n;
	if (conn->out_at == conn->out.len)
		conn->out_at = conn->out.len = 0;
	if (!conn->abort_left || (conn->abort_left -= (size_t)n))
		return true;
	conn_abort(conn);
	return false;
}

void conn_send(struct conn *conn)
{
	while (conn->out.len || refill_batch(conn)) {
		if (!send_piece(conn))
			return;
	}
}
