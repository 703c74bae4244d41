/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <inttypes.h>

static const char *reason_of(unsigned int status)
{
	switch (status) {
	case 101:
		return "Switching Protocols";
	case 200:
		return "OK";
	case 204:
		return "No Content";
	case 304:
		return "Not Modified";
	default:
		return "As Asked";
	}
}

static bool is_bodyless(const struct request *request)
{
	return request->is_head || request->tunnel || request->ask.status == 204 ||
	       request->ask.status == 304;
}

/* Chunks are not for HTTP/1.0. */
static enum body_kind kind_of(const struct request *request)
{
	if (request->ask.kind == BODY_CHUNKED && request->is_http10)
		return BODY_LENGTH;
	return request->ask.kind;
}

static void write_framing(const struct request *request, enum body_kind kind, struct buffer *to)
{
	if (request->tunnel || request->ask.status == 204)
		return;
	if (kind == BODY_LENGTH)
		buffer_printf(to, "Content-Length: %" PRIu64 "\r\n", request->ask.size);
	else if (kind == BODY_CHUNKED)
		buffer_printf(to, "Transfer-Encoding: chunked\r\n");
	else if (kind == BODY_NONE && !is_bodyless(request))
		buffer_printf(to, "Content-Length: 0\r\n");
}

static unsigned int status_of(const struct request *request)
{
	if (request->tunnel == TUNNEL_UPGRADE)
		return 101;
	return request->tunnel == TUNNEL_CONNECT ? 200 : request->ask.status;
}

bool answer_begin(const struct request *request, struct buffer *to, struct body_writer *ret_body)
{
	enum body_kind kind = kind_of(request);
	unsigned int status = status_of(request);
	bool until_close = kind == BODY_UNTIL_CLOSE && !is_bodyless(request);
	bool closes = !request->tunnel && (request->closes || until_close);

	for (unsigned int i = 0; i < request->ask.early; i++)
		buffer_printf(to, "HTTP/1.1 103 Early Hints\r\nLink: </%u>\r\n\r\n", i);
	buffer_printf(to, "HTTP/1.1 %u %s\r\n", status, reason_of(status));
	report_write(&request->report, to);
	write_framing(request, kind, to);
	if (request->tunnel == TUNNEL_UPGRADE)
		buffer_printf(to, "Upgrade: chaos\r\nConnection: upgrade\r\n");
	else if (closes)
		buffer_printf(to, "Connection: close\r\n");
	else if (request->is_http10)
		buffer_printf(to, "Connection: keep-alive\r\n");
	buffer_append(to, "\r\n", 2);
	if (is_bodyless(request))
		kind = BODY_NONE;
	body_writer_start(ret_body, kind, talk_answer_seed(request->ask.id), request->ask.size);
	return closes;
}

void answer_refusal(const char *why, struct buffer *to)
{
	buffer_printf(to,
		      "HTTP/1.1 400 Bad Request\r\nX-Error: %s\r\nContent-Length: 0\r\n"
		      "Connection: close\r\n\r\n",
		      why);
}
