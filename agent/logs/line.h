/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of a program as it passes: lines get the ids of the trace that they were written for, and
 * are the same byte by byte otherwise. Text gets ` trace_id=... span_id=...` at its end; a line
 * that is one JSON object gets members of these names as its last ones.
 *
 * Left as they are: lines that were written by several threads, or for several requests, or by one
 * that works on none; that have ids already; that are empty, longer than LINE_MAX_BYTES, or no text
 * (UTF-8 without control characters but tabs and colours); and those that begin with a blank or
 * with one of {}[]" and are no whole JSON object: they go on with what another line has begun.
 */
#ifndef CTXPROP_LOGS_LINE_H
#define CTXPROP_LOGS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "engine/traces.h"

#define LINE_MAX_BYTES 16384

enum line_kind { LINE_EMPTY, LINE_TEXT, LINE_JSON, LINE_OTHER };

/* What became of a line: X(id, in words). */
#define LINE_RESULTS_TABLE(X)                                                                      \
	X(IDS, "with ids")                                                                         \
	X(NO_REQUEST, "of threads that work on no known request")                                  \
	X(UNCERTAIN, "of which the writer is not certain")                                         \
	X(SEVERAL, "of several writers or requests")                                               \
	X(FORM, "that have ids already, are empty, too long or no whole line of text or JSON")

#define LINE_RESULT_ENUM(id, words) LINE_##id,
enum line_result { LINE_RESULTS_TABLE(LINE_RESULT_ENUM) LINE_RESULTS };
#undef LINE_RESULT_ENUM

/* Who wrote some bytes. */
struct line_writer {
	bool is_certain;
	const struct traces_ctx *works_on; /* NULL: on nothing, or that is not known */
};

/* A stream of lines, and the one that is going on. Zero: none is. */
struct line {
	enum line_kind kind;
	enum line_result result; /* as far as it is known */
	bool begun;
	size_t length;
	struct traces_ctx ids;
};

/* How many lines ended in which way. */
struct line_counts {
	unsigned long lines[LINE_RESULTS];
};

/*
 * Append bytes that one thread has written at once to `out`, with the ids of what it worked on
 * where a line ends. Nothing is kept back.
 */
void line_pass(struct line *line, const char *bytes, size_t size, const struct line_writer *writer,
	       struct buffer *out, struct line_counts *counts);

/* The names of the members that a JSON object gets. */
struct line_names {
	const char *trace, *span;
};

/*
 * Append a text that is one JSON object with two more members. Returns false, and appends nothing,
 * if it is none, or has a member of one of these names.
 */
bool line_add_members(const char *text, size_t size, const struct line_names *names,
		      const struct traces_ctx *ids, struct buffer *out);

/* The words for a result. */
const char *line_result_words(enum line_result result);

#endif
