// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "run.h"

/* What stands in a window behind the bytes that were put there. */
static const uint8_t left_overs[] = "\r\n:\r\n\r\n5\r\n GET / HTTP/1.1\r\n\n,chunked";

struct runner {
	const struct run_input *input;
	struct run *run;
	struct http1 http;
	unsigned responses;
	uint64_t at;
	uint64_t base;   /* where the window begins */
	uint32_t line;   /* in the window: the first one since another event */
	uint32_t filled; /* and how many bytes of the stream it has */
	struct protocol_window window;
};

static void mark(struct runner *r, uint64_t at, enum protocol_event event)
{
	struct run_mark *m;

	if (r->run->count == RUN_MARKS_MAX) {
		r->run->fault = "more events than a run can keep";
		return;
	}
	m = &r->run->marks[r->run->count++];
	*m = (struct run_mark){.at = at, .event = event};
	if (event == PROTOCOL_LINE)
		return;
	m->left = r->http.left;
	m->flags = r->http.flags;
	m->status = r->http.status;
	m->stop = r->http.stop;
}

/* Tell the automaton which request the coming response answers. */
static void expect(struct runner *r)
{
	if (r->http.kind == PROTOCOL_RESPONSE && r->input->answers >> (r->responses & 15) & 1)
		r->http.flags |= HTTP1_HEAD_METHOD;
}

static void met(struct runner *r, uint64_t at, enum protocol_event event)
{
	mark(r, at, event);
	if (event != PROTOCOL_END || r->http.status < 200)
		return;
	r->responses++;
	expect(r);
}

/* Put the stream bytes at r->at into the window, if it has none of them. */
static void fill(struct runner *r, uint64_t end)
{
	if (r->at < r->base + r->filled)
		return;
	r->base = r->at;
	r->filled = end - r->at > PROTOCOL_WINDOW ? PROTOCOL_WINDOW : end - r->at;
	for (size_t i = 0; i < sizeof(r->window.byte); i++)
		r->window.byte[i] = left_overs[(r->at + i) % (sizeof(left_overs) - 1)];
	if (r->filled)
		memcpy(r->window.byte, r->input->bytes + r->at, r->filled);
}

/* One call of the automaton, from window byte `i` on. */
static struct protocol_step step(struct runner *r, uint32_t i)
{
	bool seen = r->line != PROTOCOL_NOWHERE;
	struct protocol_step s;

	if (!r->input->scan)
		return http1_step(&r->http, &r->window, i, r->filled);
	s = http1_scan(&r->http, &r->window, i, r->filled, &r->line);
	if (!seen && r->line != PROTOCOL_NOWHERE)
		mark(r, r->base + r->line, PROTOCOL_LINE);
	if (s.event != PROTOCOL_NONE && s.event != PROTOCOL_VALUE)
		r->line = PROTOCOL_NOWHERE;
	return s;
}

static void put_value(struct run *run, const void *bytes, size_t len)
{
	if (len > RUN_VALUES_MAX - run->values_len)
		len = RUN_VALUES_MAX - run->values_len;
	memcpy(run->values + run->values_len, bytes, len);
	run->values_len += len;
}

/* Window bytes [from, to) are a piece of a value. */
static void show(struct runner *r, uint32_t from, uint32_t to)
{
	static const char letters[] = {
	    [HTTP1_NAME_PARENT] = 'p', [HTTP1_NAME_STATE] = 's', [HTTP1_NAME_ID] = 'i'};
	bool first = r->http.pos == 1;

	if (first)
		put_value(r->run, &letters[r->http.name], 1);
	if (first ? from < to && http1_is_blank(r->window.byte[from]) : from == to)
		r->run->fault = "a piece of a value that is none";
	if (first && r->input->bytes[r->base + from - r->http.word - 1] != ':')
		r->run->fault = "no colon where one is said to be";
	put_value(r->run, r->window.byte + from, to - from);
}

static void look(struct runner *r, uint64_t end)
{
	uint32_t i;
	struct protocol_step s;

	fill(r, end);
	i = r->at - r->base;
	s = step(r, i);
	r->run->steps++;
	if (s.event == PROTOCOL_NONE && s.next == i)
		r->run->fault = "a step without progress";
	if (s.next < i || s.next > r->filled || s.at < i || s.at > s.next)
		r->run->fault = "a step beyond its bounds";
	r->at = r->base + s.next;
	if (s.event == PROTOCOL_VALUE)
		show(r, s.at, s.next);
	else if (s.event != PROTOCOL_NONE)
		met(r, r->base + s.at, s.event);
}

static void skip(struct runner *r, uint64_t end)
{
	uint64_t n = http1_skippable(&r->http);

	if (n > end - r->at)
		n = end - r->at;
	r->at += n;
	if (http1_skip(&r->http, n) == PROTOCOL_END)
		met(r, r->at, PROTOCOL_END);
}

static bool is_stopped(const struct runner *r)
{
	return r->run->count && r->run->marks[r->run->count - 1].event == PROTOCOL_STOP;
}

/* One packet: everything up to `end`. Returns whether the stream goes on. */
static bool packet(struct runner *r, uint64_t end)
{
	r->filled = 0;
	while (r->at < end || http1_pending(&r->http)) {
		if (!r->input->look && http1_skippable(&r->http))
			skip(r, end);
		else
			look(r, end);
		if (r->run->fault || is_stopped(r))
			return false;
	}
	return true;
}

void run_stream(const struct run_input *input, struct run *ret_run)
{
	struct runner r = {.input = input, .run = ret_run, .line = PROTOCOL_NOWHERE};

	ret_run->count = ret_run->steps = ret_run->values_len = 0;
	ret_run->fault = NULL;
	http1_init(&r.http, input->kind);
	expect(&r);
	for (size_t i = 0; i < input->cut_count; i++)
		if (!packet(&r, input->cuts[i]))
			return;
	packet(&r, input->len);
}

void run_thin(struct run *run)
{
	size_t kept = 0;

	for (size_t i = 0; i < run->count; i++) {
		bool again = kept && run->marks[kept - 1].event == PROTOCOL_LINE;

		if (!again || run->marks[i].event != PROTOCOL_LINE)
			run->marks[kept++] = run->marks[i];
	}
	run->count = kept;
}

static bool same(const struct run_mark *a, const struct run_mark *b)
{
	return a->at == b->at && a->left == b->left && a->event == b->event &&
	       a->flags == b->flags && a->status == b->status && a->stop == b->stop;
}

static int describe(char *text, size_t size, const struct run *run, size_t i)
{
	const struct run_mark *m = &run->marks[i];

	if (i >= run->count)
		return snprintf(text, size, "nothing");
	return snprintf(text, size, "event %u at %llu (left %llu, flags %#x, status %u, stop %u)",
			m->event, (unsigned long long)m->at, (unsigned long long)m->left, m->flags,
			m->status, m->stop);
}

bool run_differ(const struct run *a, const struct run *b, char *text, size_t size)
{
	char left[128], right[128];
	size_t i = 0;

	while (i < a->count && i < b->count && same(&a->marks[i], &b->marks[i]))
		i++;
	if (i == a->count && i == b->count) {
		snprintf(text, size, "the values that were shown");
		return a->values_len != b->values_len ||
		       memcmp(a->values, b->values, a->values_len) != 0;
	}
	describe(left, sizeof(left), a, i);
	describe(right, sizeof(right), b, i);
	snprintf(text, size, "mark %zu: %s; but %s", i, left, right);
	return true;
}
