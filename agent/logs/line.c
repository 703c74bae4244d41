// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <jansson.h>

#include "base/hex.h"
#include "base/utf8.h"
#include "logs/line.h"

#define ESCAPE '\x1b'

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Without the blanks at its end. */
static size_t trimmed(const char *text, size_t size)
{
	while (size && is_blank(text[size - 1]))
		size--;
	return size;
}

static bool is_text(const char *text, size_t size)
{
	for (size_t i = 0, length; i < size; i += length) {
		unsigned char c = (unsigned char)text[i];

		length = utf8_length(text + i);
		if (!length || i + length > size || c == 0x7f ||
		    (c < ' ' && c != '\t' && c != '\r' && c != ESCAPE))
			return false;
	}
	return true;
}

static bool has_ids(const char *text, size_t size)
{
	return memmem(text, size, "trace_id", sizeof("trace_id") - 1) ||
	       memmem(text, size, "span_id", sizeof("span_id") - 1);
}

/* Is it one JSON object without members of these names? */
static bool can_take(const char *text, size_t size, const struct line_names *names,
		     bool *ret_is_empty)
{
	json_t *document = json_loadb(text, size, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
	bool can = json_is_object(document) && !json_object_get(document, names->trace) &&
		   !json_object_get(document, names->span);

	*ret_is_empty = can && !json_object_size(document);
	json_decref(document);
	return can;
}

bool line_add_members(const char *text, size_t size, const struct line_names *names,
		      const struct traces_ctx *ids, struct buffer *out)
{
	char trace[HEX_TRACE], span[HEX_SPAN];
	bool is_empty;
	size_t end; /* of its members */

	if (!can_take(text, size, names, &is_empty))
		return false;
	end = trimmed(text, size) - 1;
	buffer_add(out, text, end);
	buffer_printf(out, "%s\"%s\":\"%s\",\"%s\":\"%s\"", is_empty ? "" : ",", names->trace,
		      hex_text(trace, ids->trace_id, sizeof(ids->trace_id)), names->span,
		      hex_text(span, ids->span_id, sizeof(ids->span_id)));
	buffer_add(out, text + end, size - end);
	return true;
}

/* The first bytes of a line: what is it? Returns whether they were passed on. */
static bool begin_line(struct line *line, const char *text, size_t size, struct buffer *out)
{
	static const struct line_names names = {"trace_id", "span_id"};

	if (!strchr("{}[]\" \t", *text)) {
		line->kind = LINE_TEXT;
		return false;
	}
	line->kind = LINE_OTHER;
	if (line->result != LINE_IDS || *text != '{' || size > LINE_MAX_BYTES ||
	    !line_add_members(text, size, &names, &line->ids, out))
		return false;
	line->kind = LINE_JSON;
	return true;
}

/* Note why the line gets no ids; the first reason counts. */
static void lower(struct line *line, enum line_result result)
{
	if (line->result == LINE_IDS && line->kind != LINE_JSON)
		line->result = result;
}

/* Bytes of a line, without its end. */
static void pass_part(struct line *line, const char *text, size_t size, struct buffer *out)
{
	bool passed = line->kind == LINE_EMPTY && begin_line(line, text, size, out);

	line->length += size;
	if (!passed)
		buffer_add(out, text, size);
	if (line->kind == LINE_OTHER || line->length > LINE_MAX_BYTES || !is_text(text, size) ||
	    has_ids(text, size))
		lower(line, LINE_FORM);
}

static enum line_result result_of(const struct line_writer *writer)
{
	if (!writer->is_certain)
		return LINE_UNCERTAIN;
	return writer->works_on ? LINE_IDS : LINE_NO_REQUEST;
}

/* What is known of a line, with the writer of one more part of it. */
static void note_writer(struct line *line, const struct line_writer *writer)
{
	const struct traces_ctx *ids = writer->works_on;

	if (!line->begun) {
		*line = (struct line){.begun = true, .result = result_of(writer)};
		if (line->result == LINE_IDS)
			line->ids = *ids;
	} else if (result_of(writer) != LINE_IDS || memcmp(ids, &line->ids, sizeof(*ids)) != 0) {
		lower(line, LINE_SEVERAL);
	}
}

static void add_ids(const struct line *line, struct buffer *out)
{
	char trace[HEX_TRACE], span[HEX_SPAN];

	hex_text(trace, line->ids.trace_id, sizeof(line->ids.trace_id));
	hex_text(span, line->ids.span_id, sizeof(line->ids.span_id));
	buffer_printf(out, " trace_id=%s span_id=%s", trace, span);
}

/* The rest of a line, up to its end. */
static void end_line(struct line *line, const char *text, size_t size, struct buffer *out,
		     struct line_counts *counts)
{
	bool has_return = size && text[size - 1] == '\r';

	if (size - has_return)
		pass_part(line, text, size - has_return, out);
	if (line->kind == LINE_EMPTY)
		lower(line, LINE_FORM);
	if (line->result == LINE_IDS && line->kind == LINE_TEXT)
		add_ids(line, out);
	buffer_add(out, has_return ? "\r\n" : "\n", 1 + (size_t)has_return);
	counts->lines[line->result]++;
	*line = (struct line){};
}

void line_pass(struct line *line, const char *bytes, size_t size, const struct line_writer *writer,
	       struct buffer *out, struct line_counts *counts)
{
	const char *end;

	for (; size; size -= (size_t)(end + 1 - bytes), bytes = end + 1) {
		note_writer(line, writer);
		end = memchr(bytes, '\n', size);
		if (!end) {
			/* Ids come before the end of a line, which may be two bytes. */
			pass_part(line, bytes, size, out);
			if (bytes[size - 1] == '\r')
				lower(line, LINE_FORM);
			return;
		}
		end_line(line, bytes, (size_t)(end - bytes), out, counts);
	}
}

#define RESULT_WORDS(id, words) words,
static const char *const result_words[] = {LINE_RESULTS_TABLE(RESULT_WORDS)};

const char *line_result_words(enum line_result result)
{
	return result_words[result];
}
