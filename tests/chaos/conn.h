/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection of the client: conn.c has its life, conn_send.c and conn_receive.c the two
 * directions.
 */
#ifndef CHAOS_CONN_H
#define CHAOS_CONN_H

#include "client.h"

enum conn_state { CONN_CLOSED, CONN_OPENING, CONN_OPEN };

struct conn {
	struct client *client;
	int fd;
	enum conn_state state;
	uint16_t port;
	uint32_t events;
	uint64_t progress_ms;
	int queued; /* bytes that the peer had not acknowledged when last asked */
	struct rng rng;

	/* requests: sent and unanswered ones, the one being sent, the one that waits for its turn
	 */
	struct plan *unanswered[DEPTH_MAX];
	unsigned int oldest, count, to_begin;
	uint64_t unanswered_bytes;
	struct plan *sending, *next;
	bool server_closes, half_close, shut, tunnel;

	struct buffer out;
	size_t out_at, cut_left;
	uint64_t abort_left; /* bytes to send before it is ended in the middle; 0: it is not */

	struct head answer_head;
	struct response response;
	struct body_reader body;
	bool in_body;
	enum verdict before_tunnel;
	char previous[PLAN_TEXT_MAX];
	uint8_t reply[TALK_TUNNEL_REPLY];
	size_t reply_len;
};

/* Open a connection for the next requests, when there are any. */
void conn_open(struct conn *conn);

/* Deal with what epoll reported. */
void conn_event(struct conn *conn, uint32_t events);

/* Fail when there was no progress for too long. */
void conn_check_time(struct conn *conn);

/* Count all its requests as failed in this way, say why, close. */
void conn_fail(struct conn *conn, enum verdict verdict, const char *why);

/* Something moved: the connection is not stuck. */
void conn_progress(struct conn *conn);

/* Say how a request went wrong: which it was, where, and what was before it. */
void conn_tell(struct conn *conn, enum verdict verdict, const struct plan *plan, const char *why);

/* Close without counting anything; frees what is queued. */
void conn_close(struct conn *conn);

/* The oldest unanswered request. Only when there is one. */
struct plan *conn_oldest(const struct conn *conn);

/* Send until the socket blocks or there is nothing to send. */
void conn_send(struct conn *conn);

/* End it in the middle, as the settings want it; its requests count as aborted. */
void conn_abort(struct conn *conn);

/* Queue the eight bytes that begin a tunnel. */
void conn_begin_tunnel(struct conn *conn, const struct plan *plan);

/* Draw the request that is sent next, when the connection is to have another. */
void conn_draw_next(struct conn *conn);

/* Receive and check until the socket blocks. */
void conn_receive(struct conn *conn);

#endif
