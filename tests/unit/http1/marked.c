// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "marked.h"

static const char *const event_names[] = {
    [PROTOCOL_LINE] = "<line>", [PROTOCOL_BLANK] = "<blank>", [PROTOCOL_HEAD] = "<head>",
    [PROTOCOL_END] = "<end>",   [PROTOCOL_STOP] = "<stop:",
};

static const char *const stop_names[] = {
    [HTTP1_STOP_NONE] = "none",           [HTTP1_STOP_NOT_HTTP] = "not-http",
    [HTTP1_STOP_HTTP2] = "http2",         [HTTP1_STOP_TLS] = "tls",
    [HTTP1_STOP_CONNECT] = "connect",     [HTTP1_STOP_UPGRADED] = "upgraded",
    [HTTP1_STOP_MALFORMED] = "malformed", [HTTP1_STOP_LENGTH] = "length",
};

/* Length of the event at the start of `text`; 0: there is none. */
static size_t event_length(const char *text)
{
	for (size_t i = PROTOCOL_LINE; i <= PROTOCOL_STOP; i++)
		if (!strncmp(text, event_names[i], strlen(event_names[i])))
			return strcspn(text, ">") + 1;
	return 0;
}

/* The bytes that the start of `text` stands for. Returns how much of it, 1 at least. */
static size_t decode(const char *text, char out[3])
{
	if (!strncmp(text, "<cr>", 4)) {
		memcpy(out, "\r", 2);
		return 4;
	}
	if (!strncmp(text, "<lf>", 4)) {
		memcpy(out, "\n", 2);
		return 4;
	}
	snprintf(out, 3, text[0] == '\n' ? "\r\n" : "%c", text[0]);
	return 1;
}

size_t marked_bytes(const char *text, uint8_t *bytes, size_t room)
{
	size_t len = 0;

	while (*text) {
		size_t event = event_length(text);
		char out[3];

		text += event ? event : decode(text, out);
		for (const char *c = event ? "" : out; *c && len < room; c++)
			bytes[len++] = (uint8_t)*c;
	}
	return len;
}

/* Append to text[used..room). Returns the new length. */
static size_t append(char *text, size_t used, size_t room, const char *what)
{
	size_t len = strlen(what);

	if (used + len >= room)
		return used;
	memcpy(text + used, what, len + 1);
	return used + len;
}

static size_t append_event(char *text, size_t used, size_t room, const struct run_mark *m)
{
	used = append(text, used, room, event_names[m->event]);
	if (m->event != PROTOCOL_STOP)
		return used;
	used = append(text, used, room, stop_names[m->stop]);
	return append(text, used, room, ">");
}

/* CR LF is a newline, unless an event stands between the two. */
static size_t append_byte(char *text, size_t used, size_t room, const uint8_t *byte, bool pair)
{
	char plain[2] = {(char)*byte, 0};

	if (pair)
		return append(text, used, room, "\n");
	if (*byte == '\r')
		return append(text, used, room, "<cr>");
	return append(text, used, room, *byte == '\n' ? "<lf>" : plain);
}

void marked_text(const uint8_t *bytes, size_t len, const struct run *run, char *text, size_t room)
{
	size_t used = 0, next = 0, i = 0;

	text[0] = 0;
	while (i <= len) {
		bool pair;

		for (; next < run->count && run->marks[next].at <= i; next++)
			used = append_event(text, used, room, &run->marks[next]);
		if (i == len)
			break;
		pair = i + 1 < len && bytes[i] == '\r' && bytes[i + 1] == '\n' &&
		       (next == run->count || run->marks[next].at != i + 1);
		used = append_byte(text, used, room, &bytes[i], pair);
		i += pair ? 2 : 1;
	}
}
