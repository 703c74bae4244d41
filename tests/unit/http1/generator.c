// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "generator.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
/* One of a list of texts. */
#define PICK(g, list) ((list)[generator_draw((g), COUNT(list))])

/* What a message says about its body, and what it then sends. */
enum body { BODY_NONE, BODY_LENGTH, BODY_CHUNKS, BODY_KINDS };

static const char *const methods[] = {"GET",     "POST",  "PUT",      "DELETE",   "HEAD",
				      "OPTIONS", "PATCH", "PROPFIND", "M-SEARCH", "UNSUBSCRIBE"};
static const char *const targets[] = {
    "/", "/a/b?c=d&e=%20", "*", "http://host:80/path",
    "/a-target-longer-than-eight-words-of-eight-bytes-as-one-step-looks-at-no-more"};
static const char *const names[] = {"Host",
				    "Accept",
				    "X",
				    "User-Agent",
				    "Content-Type",
				    "Cookie",
				    "Traceparent",
				    "TRACESTATE",
				    "traceparent",
				    "Transfer",
				    "Content-Lengthy",
				    "TE",
				    "Upgrade-Insecure-Requests",
				    "x-content-length",
				    "X-Request-ID",
				    "x-request-identity"};
static const char *const values[] = {"a",
				     "",
				     "text/html, */*;q=0.8",
				     "\ta \t b\t",
				     "\xc3\xa4",
				     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
				     "GET / HTTP/1.1",
				     "chunked",
				     "5"};
static const char *const odd_lines[] = {"Content-Length: 5",
					"content-length:7",
					"Content-Length: 5, 5",
					"Content-Length: +5",
					"Content-Length: 0x5",
					"Content-Length:",
					"Transfer-Encoding: chunked",
					"Transfer-Encoding: gzip",
					"Transfer-Encoding: gzip,chunked",
					"Transfer-Encoding: chunked, identity",
					"Transfer-Encoding:\tchunked\t",
					"Transfer-Encoding: xchunked",
					"Transfer-Encoding: chunked;q=1",
					"Transfer-Encoding: ,chunked",
					"Transfer-Encoding : chunked",
					"Content-Length : 5",
					" folded: line",
					"no colon at all",
					": no name",
					"Connection: close",
					"Connection: upgrade",
					"Upgrade: h2c",
					"Content-Length: 5\r",
					"Name with space: a",
					"A: b\nContent-Length: 3",
					"Content-Length: 00000000000005",
					"Transfer-Encoding: chunked\n",
					"X: \x01",
					"Keep-Alive: 5",
					"Content-Length: 99999999999999999999",
					"Transfer-Encoding: chunked\r\n chunked"};
static const char *const odd_starts[] = {"GET  / HTTP/1.1",    "GET / HTTP/1.2",
					 "get / HTTP/1.1",     "GET /",
					 "GET / HTTP/1.1 ",    "CONNECT a:443 HTTP/1.1",
					 "PRI * HTTP/2.0",     "GET / HTTP/1.0",
					 "\r\nGET / HTTP/1.1", "\nGET / HTTP/1.1",
					 "HTTP/1.1 200 OK",    "HTTP/1.1 101 Go",
					 "HTTP/1.1 204 No",    "HTTP/1.0 200"};
static const char *const odd_sizes[] = {"5;a=b",
					"5 ",
					"05",
					"0x5",
					"-5",
					"5\t;a",
					"FFFFFFFFFFFFFFFFF",
					"",
					"5;\"a\rb\"",
					"5\n",
					"000000000000000000005"};
static const char *const reasons[] = {"", " ", " OK", " Not \t Found", " \xc3\xa4"};
static const uint8_t odd_bytes[] = {0, '\t', '\n', '\r', ' ', ':', ';', ',', '0', 0x7f, 0xff, 'c'};

uint32_t generator_draw(struct generator *g, uint32_t below)
{
	/* xorshift64 (Marsaglia, 2003) */
	g->seed ^= g->seed << 13;
	g->seed ^= g->seed >> 7;
	g->seed ^= g->seed << 17;
	return (g->seed >> 32) % below;
}

static bool one_in(struct generator *g, uint32_t n)
{
	return generator_draw(g, n) == 0;
}

static void put(struct generator *g, const char *text)
{
	size_t len = strlen(text);

	if (g->len + len > g->room)
		len = g->room - g->len;
	memcpy(g->bytes + g->len, text, len);
	g->len += len;
}

static void put_number(struct generator *g, const char *format, uint32_t n)
{
	char text[32];

	snprintf(text, sizeof(text), format, n);
	put(g, text);
}

/* Bytes that look like anything but a body. */
static void put_body(struct generator *g, uint32_t n)
{
	static const char like[] = "GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\n0\r\n\r\n";

	while (n--)
		put(g, (char[]){like[generator_draw(g, sizeof(like) - 1)], 0});
}

static void put_name(struct generator *g, const char *name)
{
	for (bool shout = one_in(g, 4); *name; name++) {
		char c = *name;

		if (shout && c >= 'a' && c <= 'z')
			c -= 'a' - 'A';
		put(g, (char[]){c, 0});
	}
}

static void put_field(struct generator *g, const char *name, const char *value, const char *eol)
{
	put_name(g, name);
	put(g, one_in(g, 4) ? ":" : ": ");
	put(g, value);
	put(g, eol);
}

static void put_fields(struct generator *g, uint32_t most, enum generator_mood mood,
		       const char *eol)
{
	for (uint32_t n = generator_draw(g, most + 1); n; n--) {
		if (mood != GENERATOR_VALID && one_in(g, 8)) {
			put(g, PICK(g, odd_lines));
			put(g, eol);
		} else {
			put_field(g, PICK(g, names), PICK(g, values), eol);
		}
	}
}

static void put_chunk(struct generator *g, enum generator_mood mood)
{
	uint32_t n = 1 + generator_draw(g, one_in(g, 4) ? 400 : 20);

	if (mood != GENERATOR_VALID && one_in(g, 12)) {
		put(g, PICK(g, odd_sizes));
		n = 5;
	} else {
		put_number(g, one_in(g, 2) ? "%x" : "%04X", n);
		put(g, one_in(g, 4) ? ";name=\"value\"" : "");
	}
	put(g, "\r\n");
	put_body(g, n);
	put(g, "\r\n");
}

static void put_chunks(struct generator *g, enum generator_mood mood)
{
	for (uint32_t n = generator_draw(g, 4); n; n--)
		put_chunk(g, mood);
	put(g, one_in(g, 3) ? "000\r\n" : "0\r\n");
	if (one_in(g, 3))
		put_fields(g, 3, mood, "\r\n");
	put(g, "\r\n");
}

static void put_start(struct generator *g, enum protocol_kind kind, enum generator_mood mood,
		      uint32_t status)
{
	if (mood != GENERATOR_VALID && one_in(g, 8)) {
		put(g, PICK(g, odd_starts));
	} else if (kind == PROTOCOL_REQUEST) {
		put(g, PICK(g, methods));
		put(g, " ");
		put(g, PICK(g, targets));
		put(g, " HTTP/1.1");
	} else {
		put_number(g, "HTTP/1.1 %u", status);
		put(g, PICK(g, reasons));
	}
}

static void put_message(struct generator *g, enum protocol_kind kind, enum generator_mood mood)
{
	static const uint32_t statuses[] = {200, 200, 200, 404, 503, 100, 103, 204, 304};
	uint32_t status = PICK(g, statuses);
	bool silent = kind == PROTOCOL_RESPONSE && (status < 200 || status == 204 || status == 304);
	enum body body = generator_draw(g, BODY_KINDS);
	uint32_t length = generator_draw(g, one_in(g, 4) ? 600 : 30);
	const char *eol = one_in(g, mood == GENERATOR_VALID ? 10 : 5) ? "\n" : "\r\n";
	char text[16];

	snprintf(text, sizeof(text), "%u", length);
	put(g, one_in(g, 8) ? "\r\n" : "");
	put_start(g, kind, mood, status);
	put(g, eol);
	put_fields(g, one_in(g, 16) ? 60 : 5, mood, eol);
	if (body == BODY_LENGTH)
		put_field(g, "Content-Length", text, eol);
	if (body == BODY_CHUNKS)
		put_field(g, "Transfer-Encoding", one_in(g, 4) ? "gzip, chunked" : "chunked", eol);
	put_fields(g, 3, mood, eol);
	put(g, eol);
	if (silent)
		return;
	if (body == BODY_LENGTH)
		put_body(g, length);
	if (body == BODY_CHUNKS)
		put_chunks(g, mood);
}

/* Replace, remove or repeat one byte. */
static void spoil(struct generator *g)
{
	size_t at = generator_draw(g, g->len);
	uint8_t *byte = g->bytes + at;

	switch (generator_draw(g, 3)) {
	case 0:
		*byte = PICK(g, odd_bytes);
		break;
	case 1:
		memmove(byte, byte + 1, g->len - at - 1);
		g->len--;
		break;
	default:
		if (g->len == g->room)
			return;
		memmove(byte + 1, byte, g->len - at);
		g->len++;
	}
}

void generator_stream(struct generator *g, enum protocol_kind kind, enum generator_mood mood)
{
	g->len = 0;
	for (uint32_t n = 1 + generator_draw(g, 6); n; n--)
		put_message(g, kind, mood);
	if (mood != GENERATOR_HOSTILE)
		return;
	for (uint32_t n = 1 + generator_draw(g, 4); n && g->len > 1; n--)
		spoil(g);
}
