/* SPDX-License-Identifier: Apache-2.0 */
/* One connection of the server. */
#ifndef CHAOS_SESSION_H
#define CHAOS_SESSION_H

#include "request.h"

/* What the server does wrong on purpose, to prove that the client notices. */
enum fault { FAULT_NONE, FAULT_RESET, FAULT_STALL, FAULT_SHORT, FAULT_BODY, FAULT_SWAP };

/* What all connections share. */
struct server {
	enum fault fault;
	uint64_t fault_every;
	uint64_t connections, requests, errors;
	struct session *sessions;
	int probe_seconds; /* a client that is silent for so long is asked; 0: never */
	bool quiet;
};

enum session_state {
	SESSION_SNIFF,
	SESSION_HEAD,
	SESSION_BODY,
	SESSION_TUNNEL,
	SESSION_DEAF,
	SESSION_CLOSING,
};

struct session {
	struct server *server;
	struct session *next, **link;
	int fd;
	enum session_state state;
	struct head head;
	struct request request;
	struct body_reader body;
	uint8_t tunnel_head[8];
	size_t tunnel_have;
	struct buffer in, out;
	size_t in_at, out_at;
	struct body_writer answer;
	bool spoil, close_after, shut;
};

/* What the session waits for after session_work(). */
enum session_wish { SESSION_READ, SESSION_WRITE, SESSION_OVER };

/* A session for a connected non-blocking socket, which it owns. */
struct session *session_new(struct server *server, int fd);

/* Go on until the socket would block. */
enum session_wish session_work(struct session *session);

/* Close the socket and free everything. */
void session_free(struct session *session);

#endif
