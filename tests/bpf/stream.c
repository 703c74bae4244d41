// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "edits.h"
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

static void expect(struct stream *s, const struct stream_edit *edit)
{
	assert_true(s->edits < STREAM_EDITS_MAX);
	assert_true(!s->edits || s->edit[s->edits - 1].at < edit->at);
	s->edit[s->edits++] = *edit;
}

void stream_expect_edit(struct stream *s, size_t at)
{
	expect(s, &(struct stream_edit){.at = at, .len = LINE_LEN + s->state_len});
}

void stream_expect_field(struct stream *s, size_t at)
{
	expect(s, &(struct stream_edit){.at = at, .len = FIELD_LEN, .is_field = true});
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

/* Is a text as `form` has it, in which x is any digit of an id, and is no id all zeros? */
static bool has_form(const char *text, const char *form, size_t len)
{
	bool zero = true;

	for (size_t i = 0; i < len; i++) {
		if (form[i] == 'x') {
			zero = zero && text[i] == '0';
			if (!text[i] || !strchr("0123456789abcdef", text[i]))
				return false;
			continue;
		}
		if (text[i] != form[i] || (i && form[i - 1] == 'x' && zero))
			return false;
		zero = true;
	}
	return true;
}

#define IDS "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx"

static bool well_formed(const struct stream_edit *e)
{
	static const char line[] = "traceparent: 00-" IDS "-03\r\n";
	/* A literal without indexing: the name coded, the value not (RFC 7541, 6.2.2). */
	static const char field[] = "\0\x88\x4d\x83\x21\x6b\x1d\x85\xa9\x3f\x37"
				    "00-" IDS "-03";

	_Static_assert(sizeof(line) - 1 == LINE_LEN, "form of a line");
	_Static_assert(sizeof(field) - 1 == FIELD_LEN, "form of a field");
	return e->is_field ? has_form(e->text, field, FIELD_LEN)
			   : has_form(e->text, line, LINE_LEN);
}

static void learn(struct stream_edit *e, const uint8_t *sent)
{
	const size_t states = e->is_field ? 0 : e->len - LINE_LEN;

	memcpy(e->text, sent, e->len);
	e->known = true;
	if (!well_formed(e) || state_line(sent + e->len - states, states) != states)
		fail_msg("app offset %zu: not the lines of a header: \"%.*s\"", e->at, (int)e->len,
			 e->text);
}

/* The bytes of an edit, as far as they are known, at `ret_bytes`. Returns their number. */
static size_t edit_bytes(struct stream_edit *e, const uint8_t *sent, size_t sent_len,
			 uint8_t *ret_bytes)
{
	if (!e->known && e->len <= sent_len)
		learn(e, sent);
	memcpy(ret_bytes, e->text, e->len);
	return e->len;
}

/* App byte `a` on the wire; what is open is learned from `sent`, if there is something. */
static uint8_t wire_byte(struct stream *s, size_t a, const uint8_t *sent, bool has_sent)
{
	if (s->changes[a] == STREAM_OPEN && has_sent) {
		s->changes[a] = STREAM_KNOWN;
		s->changed[a] = *sent;
	}
	return stream_changed(s, a);
}

size_t stream_wire_bytes(struct stream *s, size_t from, size_t to, const uint8_t *sent,
			 size_t sent_len, uint8_t *ret_bytes)
{
	size_t n = 0, next = 0;

	for (size_t a = from; a < to; a++) {
		struct stream_edit *e;

		while (next < s->edits && s->edit[next].at < a)
			next++;
		e = next < s->edits && s->edit[next].at == a ? &s->edit[next] : NULL;
		if (e && !e->is_field)
			n +=
			    edit_bytes(e, sent + n, sent_len > n ? sent_len - n : 0, ret_bytes + n);
		ret_bytes[n] = wire_byte(s, a, sent + n, n < sent_len);
		n++;
		if (e && e->is_field)
			n +=
			    edit_bytes(e, sent + n, sent_len > n ? sent_len - n : 0, ret_bytes + n);
	}
	return n;
}
