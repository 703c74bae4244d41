/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"

#include <errno.h>
#include <string.h>

#define READ_MAX (64 * 1024)

/* The oldest request is answered. */
static void pop(struct conn *conn, enum verdict verdict, const char *why)
{
	struct plan *plan = conn_oldest(conn);

	tally_request(&conn->client->tally, verdict);
	if (verdict != VERDICT_OK && verdict != VERDICT_SKIPPED)
		conn_tell(conn, verdict, plan, why);
	plan_describe(plan, conn->previous, sizeof(conn->previous));
	conn->unanswered_bytes -= plan_size(plan);
	conn->oldest = (conn->oldest + 1) % DEPTH_MAX;
	conn->count--;
	plan_free(plan);
}

static void finish_answer(struct conn *conn)
{
	struct client *client = conn->client;
	struct plan *plan = conn_oldest(conn);
	bool opens = plan->stream != STREAM_HTTP;
	const char *why = NULL;
	enum verdict verdict = check_answer(plan, &conn->response, &conn->body, &client->settings,
					    &client->seen, &why);

	conn->in_body = false;
	head_reset(&conn->answer_head);
	if (opens && (verdict == VERDICT_OK || verdict == VERDICT_SKIPPED)) {
		conn->before_tunnel = verdict;
		conn_begin_tunnel(conn, plan);
	} else if (opens) {
		conn_fail(conn, verdict, why);
	} else {
		pop(conn, verdict, why);
	}
}

/* 100 and 103 stand before the answer proper. */
static bool is_interim(struct conn *conn, struct plan *plan)
{
	unsigned int status = conn->response.status;

	if (status != 100 && status != 103)
		return false;
	if (status == 100)
		plan->continued = true;
	else
		plan->early++;
	head_reset(&conn->answer_head);
	return true;
}

static ssize_t take_head(struct conn *conn, const uint8_t *data, size_t len)
{
	struct plan *plan = conn_oldest(conn);
	ssize_t n = head_collect(&conn->answer_head, data, len);
	const char *why = "the answer's head is too long";

	if (n >= 0 && !conn->answer_head.complete)
		return n;
	if (n < 0 || response_read(&conn->answer_head, plan, &conn->response, &why)) {
		conn_fail(conn, VERDICT_CORRUPT, why);
		return -EPROTO;
	}
	if (is_interim(conn, plan))
		return n;
	body_reader_start(&conn->body, conn->response.kind, conn->response.length);
	conn->in_body = true;
	if (conn->body.done)
		finish_answer(conn);
	return n;
}

static ssize_t take_body(struct conn *conn, const uint8_t *data, size_t len)
{
	ssize_t n = body_read(&conn->body, data, len);

	if (n < 0)
		conn_fail(conn, VERDICT_CORRUPT, conn->body.why);
	else if (conn->body.done)
		finish_answer(conn);
	return n;
}

static ssize_t take_reply(struct conn *conn, const uint8_t *data, size_t len)
{
	size_t room = TALK_TUNNEL_REPLY - conn->reply_len;
	size_t n = len < room ? len : room;
	const char *why = NULL;
	enum verdict verdict;

	memcpy(conn->reply + conn->reply_len, data, n);
	conn->reply_len += n;
	if (conn->reply_len < TALK_TUNNEL_REPLY)
		return (ssize_t)n;
	verdict = check_tunnel(conn_oldest(conn), conn->reply, &why);
	pop(conn, verdict == VERDICT_OK ? conn->before_tunnel : verdict, why);
	return (ssize_t)n;
}

static ssize_t take(struct conn *conn, const uint8_t *data, size_t len)
{
	if (!conn->count) {
		conn_fail(conn, VERDICT_CORRUPT, "bytes came after the last answer");
		return -EPROTO;
	}
	if (conn->in_body)
		return take_body(conn, data, len);
	return conn->tunnel ? take_reply(conn, data, len) : take_head(conn, data, len);
}

static void at_end(struct conn *conn)
{
	if (conn->in_body && conn->body.kind == BODY_UNTIL_CLOSE)
		finish_answer(conn);
	if (conn->state != CONN_OPEN)
		return;
	if (conn->count || conn->next)
		conn_fail(conn, VERDICT_RESET, "the connection was closed early");
	else if (!conn->shut && !conn->server_closes)
		conn_fail(conn, VERDICT_RESET, "the connection was closed without reason");
	else
		conn_close(conn);
}

void conn_receive(struct conn *conn)
{
	static uint8_t data[READ_MAX];
	ssize_t got = recv(conn->fd, data, sizeof(data), 0), n;

	if (got < 0 && errno != EAGAIN)
		conn_fail(conn, VERDICT_RESET, strerror(errno));
	if (got < 0)
		return;
	if (!got) {
		at_end(conn);
		return;
	}
	conn_progress(conn);
	for (ssize_t at = 0; at < got && conn->state == CONN_OPEN; at += n) {
		n = take(conn, data + at, (size_t)(got - at));
		if (n < 0)
			return;
	}
}
