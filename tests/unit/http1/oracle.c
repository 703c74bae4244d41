// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "http/http1/head.h"
#include "oracle.h"

/* A boundary: where a head or a message ends. */
struct boundary {
	uint64_t at;
	bool head;
};

/* The boundaries that one side found, and where it stopped. */
struct side {
	const char *name;
	struct boundary found[RUN_MARKS_MAX];
	size_t count;
	bool stopped;
	uint64_t stop;
	const char *why;
};

struct reading {
	const struct run_input *input;
	struct head_reader *reader;
	struct side *side;
	unsigned responses;
};

static void add(struct side *side, uint64_t at, bool head)
{
	if (side->count < RUN_MARKS_MAX)
		side->found[side->count++] = (struct boundary){.at = at, .head = head};
}

static void expect(struct reading *r)
{
	if (r->input->kind == PROTOCOL_RESPONSE && r->input->answers >> (r->responses & 15) & 1)
		head_reader_expect_no_body(r->reader);
}

static void on_head(void *data, const struct head *head, uint64_t at)
{
	struct reading *r = data;

	if (head->status >= 200)
		r->responses++;
	add(r->side, at, true);
}

static void on_end(void *data, uint64_t at)
{
	struct reading *r = data;

	add(r->side, at, false);
	expect(r);
}

/* Returns 0, or -ENOMEM. */
static int read_theirs(const struct run_input *input, struct side *side)
{
	struct reading r = {.input = input, .side = side};
	struct head_handler handler = {.head = on_head, .end = on_end, .data = &r};
	enum head_kind kind = input->kind == PROTOCOL_REQUEST ? HEAD_REQUEST : HEAD_RESPONSE;
	int err = head_reader_new(kind, &handler, &r.reader);

	if (err)
		return err;
	expect(&r);
	side->stopped = head_reader_feed(r.reader, input->bytes, input->len) != 0;
	side->stop = head_reader_offset(r.reader);
	side->why = side->stopped ? head_reader_error(r.reader) : "";
	head_reader_free(r.reader);
	return 0;
}

static void read_ours(const struct run *run, struct side *side)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct run_mark *m = &run->marks[i];

		if (m->event == PROTOCOL_HEAD || m->event == PROTOCOL_END)
			add(side, m->at, m->event == PROTOCOL_HEAD);
		if (m->event == PROTOCOL_STOP) {
			side->stopped = true;
			side->stop = m->at;
		}
	}
}

static int describe(char *text, size_t size, const struct side *side, size_t i)
{
	const struct boundary *b = &side->found[i];

	if (i < side->count)
		return snprintf(text, size, "%s: a %s ends at %llu", side->name,
				b->head ? "head" : "message", (unsigned long long)b->at);
	if (side->stopped)
		return snprintf(text, size, "%s: stops at %llu %s", side->name,
				(unsigned long long)side->stop, side->why);
	return snprintf(text, size, "%s: nothing more", side->name);
}

/* May `side` lack the boundary `b`, because it stopped no later? */
static bool excused(const struct side *side, const struct boundary *b)
{
	return side->stopped && side->stop <= b->at;
}

/* The first boundary on which the two differ; a number beyond both counts: there is none. */
static size_t first_difference(const struct side *a, const struct side *b)
{
	size_t i = 0;

	while (i < a->count && i < b->count && a->found[i].at == b->found[i].at &&
	       a->found[i].head == b->found[i].head)
		i++;
	if (i == a->count && i < b->count && excused(a, &b->found[i]))
		return SIZE_MAX;
	if (i == b->count && i < a->count && excused(b, &a->found[i]))
		return SIZE_MAX;
	return i == a->count && i == b->count ? SIZE_MAX : i;
}

static bool compare(const struct side *ours, const struct side *theirs, char *text, size_t size)
{
	size_t i = first_difference(ours, theirs);
	char left[256], right[256];

	if (i == SIZE_MAX)
		return true;
	describe(left, sizeof(left), ours, i);
	describe(right, sizeof(right), theirs, i);
	snprintf(text, size, "boundary %zu: %s; %s", i, left, right);
	return false;
}

bool oracle_agrees(const struct run_input *input, const struct run *run, char *text, size_t size)
{
	static struct side ours, theirs;

	ours = (struct side){.name = "framing", .why = ""};
	theirs = (struct side){.name = "llhttp", .why = ""};
	read_ours(run, &ours);
	if (read_theirs(input, &theirs)) {
		snprintf(text, size, "no memory");
		return false;
	}
	return compare(&ours, &theirs, text, size);
}
