// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "stream.h"

size_t stream_write(struct stream *s, const void *bytes, size_t len)
{
	size_t from = s->len;

	assert_true(s->len + len <= STREAM_MAX);
	if (len)
		memcpy(s->byte + s->len, bytes, len);
	memset(s->changes + s->len, STREAM_SAME, len);
	s->len += len;
	return from;
}

size_t stream_write_marked(struct stream *s, const char *text)
{
	size_t from = s->len;

	for (; *text; text++) {
		if (*text == '^')
			stream_expect_edit(s, s->len);
		else
			stream_write(s, text, 1);
	}
	return from;
}

void stream_open(struct stream *s, size_t from, size_t to)
{
	assert_true(from <= to && to <= s->len);
	memset(s->changes + from, STREAM_OPEN, to - from);
}

uint8_t stream_changed(const struct stream *s, size_t a)
{
	return s->changes[a] == STREAM_KNOWN ? s->changed[a] : s->byte[a];
}

void stream_expect_edit(struct stream *s, size_t at)
{
	assert_true(s->edits < STREAM_EDITS_MAX);
	assert_true(!s->edits || s->edit[s->edits - 1].at < at);
	s->edit[s->edits++] = (struct stream_edit){.at = at, .len = LINE_LEN + s->state_len};
}

static const struct stream_edit *edit_at(const struct stream *s, size_t at)
{
	for (size_t i = 0; i < s->edits; i++) {
		if (s->edit[i].at == at)
			return &s->edit[i];
	}
	return NULL;
}

/* Length of the tracestate line at the start of `sent`; 0: there is none. */
static size_t state_line(const uint8_t *sent, size_t len)
{
	static const char name[] = "tracestate: ";
	const uint8_t *end;

	if (len < strlen(name) || memcmp(sent, name, strlen(name)) != 0)
		return 0;
	end = memchr(sent, '\n', len);
	assert_non_null(end);
	return end + 1 - sent;
}

void stream_discover(struct stream *s, size_t from, size_t len, const uint8_t *sent,
		     size_t sent_len)
{
	static const char name[] = "traceparent: 00-";
	size_t n = 0, at = from, state_len = s->state_len;

	while (n < sent_len && at < from + len) {
		bool header = n + sizeof(name) <= sent_len && !memcmp(sent + n, name, strlen(name));

		if (!header) {
			n++;
			at++;
			continue;
		}
		s->state_len = state_line(sent + n + LINE_LEN, sent_len - n - LINE_LEN);
		if (!edit_at(s, at))
			stream_expect_edit(s, at);
		n += edit_at(s, at)->len;
	}
	s->state_len = state_len;
}

size_t stream_to_wire(const struct stream *s, size_t a)
{
	size_t wire = a;

	for (size_t i = 0; i < s->edits; i++)
		wire += s->edit[i].at < a ? s->edit[i].len : 0;
	return wire;
}

size_t stream_to_app(const struct stream *s, size_t w)
{
	size_t a = w;

	while (stream_to_wire(s, a) > w)
		a--;
	return a;
}

size_t stream_to_app_up(const struct stream *s, size_t w)
{
	size_t a = stream_to_app(s, w);

	return stream_to_wire(s, a) < w ? a + 1 : a;
}

size_t stream_inserted_from(const struct stream *s, size_t w)
{
	size_t sum = 0;

	for (size_t i = 0; i < s->edits; i++) {
		size_t begin = stream_to_wire(s, s->edit[i].at), end = begin + s->edit[i].len;

		sum += w <= begin ? s->edit[i].len : w < end ? end - w : 0;
	}
	return sum;
}

size_t stream_inserted(const struct stream *s)
{
	return stream_inserted_from(s, 0);
}

/* "traceparent: 00-<32 hex>-<16 hex>-03\r\n", and no id of nothing but zeros. */
static bool well_formed(const char *line)
{
	static const char form[] = "traceparent: 00-"
				   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-03\r\n";
	bool zero = true;

	_Static_assert(sizeof(form) - 1 == LINE_LEN, "form of a line");
	for (size_t i = 0; i < LINE_LEN; i++) {
		if (form[i] == 'x') {
			zero = zero && line[i] == '0';
			if (!line[i] || !strchr("0123456789abcdef", line[i]))
				return false;
			continue;
		}
		if (line[i] != form[i] || (i > 16 && form[i] == '-' && zero))
			return false;
		zero = zero || form[i] == '-';
	}
	return true;
}

static void learn(struct stream_edit *e, const uint8_t *sent)
{
	memcpy(e->text, sent, e->len);
	e->known = true;
	if (!well_formed(e->text) ||
	    state_line(sent + LINE_LEN, e->len - LINE_LEN) != e->len - LINE_LEN)
		fail_msg("app offset %zu: not the lines of a header: \"%.*s\"", e->at, (int)e->len,
			 e->text);
}

size_t stream_wire_bytes(struct stream *s, size_t from, size_t to, const uint8_t *sent,
			 size_t sent_len, uint8_t *ret_bytes)
{
	size_t n = 0, next = 0;

	for (size_t a = from; a < to; a++) {
		while (next < s->edits && s->edit[next].at < a)
			next++;
		if (next < s->edits && s->edit[next].at == a) {
			struct stream_edit *e = &s->edit[next];

			if (!e->known && n + e->len <= sent_len)
				learn(e, sent + n);
			memcpy(ret_bytes + n, e->text, e->len);
			n += e->len;
		}
		if (s->changes[a] == STREAM_OPEN && n < sent_len) {
			s->changes[a] = STREAM_KNOWN;
			s->changed[a] = sent[n];
		}
		ret_bytes[n++] = stream_changed(s, a);
	}
	return n;
}
