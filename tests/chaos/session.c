/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include "answer.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_MAX ((size_t)64 * 1024)

/* How a step of the session ended. */
enum step { STEP_ON, STEP_READ, STEP_WRITE, STEP_OVER };

struct session *session_new(struct server *server, int fd)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	session->server = server;
	session->fd = fd;
	session->answer.done = true;
	session->link = &server->sessions;
	session->next = server->sessions;
	if (session->next)
		session->next->link = &session->next;
	server->sessions = session;
	server->connections++;
	return session;
}

void session_free(struct session *session)
{
	*session->link = session->next;
	if (session->next)
		session->next->link = session->link;
	close(session->fd);
	buffer_free(&session->head.bytes);
	buffer_free(&session->in);
	buffer_free(&session->out);
	free(session);
}

static void complain(struct session *session, const char *why)
{
	session->server->errors++;
	if (!session->server->quiet)
		fprintf(stderr, "server: connection %d, request id %llu: %s\n", session->fd,
			(unsigned long long)session->request.ask.id, why);
}

static enum step refuse(struct session *session, const char *why)
{
	complain(session, why);
	answer_refusal(why, &session->out);
	session->close_after = true;
	session->state = SESSION_DEAF;
	return STEP_ON;
}

static enum step begin_tunnel(struct session *session)
{
	session->state = SESSION_TUNNEL;
	session->tunnel_have = 0;
	return STEP_ON;
}

/* Do what --fault asks for instead of, or to, this answer. */
static enum step misbehave(struct session *session)
{
	struct linger abort = {.l_onoff = 1};

	switch (session->server->fault) {
	case FAULT_RESET:
		setsockopt(session->fd, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
		return STEP_OVER;
	case FAULT_STALL:
		session->state = SESSION_DEAF;
		session->out.len = 0;
		session->answer.done = true;
		session->close_after = false;
		return STEP_ON;
	case FAULT_SHORT:
		session->state = SESSION_DEAF;
		session->out.len -= session->out.len / 2;
		session->answer.done = true;
		session->close_after = true;
		return STEP_ON;
	case FAULT_BODY:
		session->spoil = true;
		return STEP_ON;
	case FAULT_SWAP:
	case FAULT_NONE:
		break;
	}
	return STEP_ON;
}

static enum step finish_request(struct session *session)
{
	struct server *server = session->server;
	struct request *request = &session->request;
	bool fault;

	request->report.body_hash = session->body.hash;
	request->report.body_length = session->body.length;
	server->requests++;
	fault = server->fault && server->requests % server->fault_every == 0;
	if (fault && server->fault == FAULT_SWAP)
		request->report.id++;
	session->close_after = answer_begin(request, &session->out, &session->answer);
	head_reset(&session->head);
	session->state = SESSION_HEAD;
	if (fault)
		return misbehave(session);
	return request->tunnel ? begin_tunnel(session) : STEP_ON;
}

static enum step begin_body(struct session *session)
{
	struct request *request = &session->request;

	body_reader_start(&session->body, request->body_kind, request->body_length);
	if (request->expects && !session->body.done)
		buffer_printf(&session->out, "HTTP/1.1 100 Continue\r\n\r\n");
	session->state = SESSION_BODY;
	return session->body.done ? finish_request(session) : STEP_ON;
}

static enum step take_head(struct session *session, const uint8_t *data, size_t len)
{
	ssize_t n = head_collect(&session->head, data, len);
	const char *why;

	if (n < 0)
		return refuse(session, "the head is too long");
	session->in_at += (size_t)n;
	if (!session->head.complete)
		return STEP_ON;
	if (request_read(&session->head, &session->request, &why))
		return refuse(session, why);
	return begin_body(session);
}

static bool is_preface(const uint8_t *data)
{
	for (int i = 0; i < TALK_PREFACES; i++) {
		if (!memcmp(data, talk_prefaces[i], TALK_PREFACE_LEN))
			return true;
	}
	return false;
}

/* The first bytes of a connection: HTTP, or one of the streams that only begin like something. */
static enum step sniff(struct session *session, const uint8_t *data, size_t len)
{
	if (len < TALK_PREFACE_LEN)
		return STEP_READ;
	if (!is_preface(data)) {
		session->state = SESSION_HEAD;
		return STEP_ON;
	}
	session->in_at += TALK_PREFACE_LEN;
	return begin_tunnel(session);
}

static enum step take_body(struct session *session, const uint8_t *data, size_t len)
{
	ssize_t n = body_read(&session->body, data, len);

	if (n < 0)
		return refuse(session, session->body.why);
	session->in_at += (size_t)n;
	return session->body.done ? finish_request(session) : STEP_ON;
}

static enum step take_tunnel(struct session *session, const uint8_t *data, size_t len)
{
	ssize_t n = 0;
	uint64_t length;

	if (session->tunnel_have < sizeof(session->tunnel_head)) {
		session->tunnel_head[session->tunnel_have++] = *data;
		session->in_at++;
		if (session->tunnel_have < sizeof(session->tunnel_head))
			return STEP_ON;
		memcpy(&length, session->tunnel_head, sizeof(length));
		body_reader_start(&session->body, BODY_LENGTH, be64toh(length));
	} else {
		n = body_read(&session->body, data, len);
		session->in_at += (size_t)n;
	}
	if (session->body.done) {
		tunnel_reply_write(session->body.length, session->body.hash, &session->out);
		session->close_after = true;
	}
	return STEP_ON;
}

static enum step take_input(struct session *session)
{
	const uint8_t *data = session->in.data + session->in_at;
	size_t len = session->in.len - session->in_at;

	switch (session->state) {
	case SESSION_SNIFF:
		return sniff(session, data, len);
	case SESSION_HEAD:
		return take_head(session, data, len);
	case SESSION_BODY:
		return take_body(session, data, len);
	case SESSION_TUNNEL:
		return take_tunnel(session, data, len);
	case SESSION_DEAF:
		session->in_at = session->in.len;
		return STEP_ON;
	case SESSION_CLOSING:
		complain(session, "bytes came after the last request of the connection");
		return STEP_OVER;
	}
	return STEP_OVER;
}

static enum step at_end(struct session *session)
{
	bool between = session->state == SESSION_CLOSING || session->state == SESSION_DEAF ||
		       (session->state == SESSION_HEAD && !session->head.bytes.len) ||
		       (session->state == SESSION_SNIFF && session->in.len == session->in_at);

	if (!between)
		complain(session, "the stream ended inside a request");
	return STEP_OVER;
}

static enum step receive(struct session *session)
{
	ssize_t n;

	if (session->in_at == session->in.len)
		session->in_at = session->in.len = 0;
	buffer_reserve(&session->in, READ_MAX);
	n = recv(session->fd, session->in.data + session->in.len, READ_MAX, 0);
	if (n < 0 && errno == EAGAIN)
		return STEP_READ;
	if (n < 0) {
		complain(session, strerror(errno));
		return STEP_OVER;
	}
	if (!n)
		return at_end(session);
	session->in.len += (size_t)n;
	return take_input(session);
}

static enum step flush(struct session *session)
{
	ssize_t n = send(session->fd, session->out.data + session->out_at,
			 session->out.len - session->out_at, MSG_NOSIGNAL);

	if (n < 0 && errno == EAGAIN)
		return STEP_WRITE;
	if (n < 0) {
		complain(session, strerror(errno));
		return STEP_OVER;
	}
	session->out_at += (size_t)n;
	if (session->out_at == session->out.len)
		session->out_at = session->out.len = 0;
	return STEP_ON;
}

static void spoil_last_byte(struct session *session)
{
	session->out.data[session->out.len - 1] ^= 1;
	session->spoil = false;
}

static enum step write_answer(struct session *session)
{
	body_write(&session->answer, &session->out);
	if (session->spoil)
		spoil_last_byte(session);
	return STEP_ON;
}

static enum step end_stream(struct session *session)
{
	shutdown(session->fd, SHUT_WR);
	session->shut = true;
	if (session->state != SESSION_DEAF)
		session->state = SESSION_CLOSING;
	return STEP_ON;
}

static enum step next_step(struct session *session)
{
	if (session->out.len)
		return flush(session);
	if (!session->answer.done)
		return write_answer(session);
	if (session->close_after && !session->shut)
		return end_stream(session);
	if (session->in_at < session->in.len && session->state != SESSION_SNIFF)
		return take_input(session);
	return receive(session);
}

enum session_wish session_work(struct session *session)
{
	for (;;) {
		switch (next_step(session)) {
		case STEP_ON:
			break;
		case STEP_READ:
			return SESSION_READ;
		case STEP_WRITE:
			return SESSION_WRITE;
		case STEP_OVER:
			return SESSION_OVER;
		}
	}
}
