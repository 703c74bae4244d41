/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_head.h"

#include "hash.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define FIELDS_MAX 160
#define TARGET_MAX 1500

/* Field lines in one buffer, so that their order can be drawn afterwards. */
struct lines {
	struct buffer text;
	size_t start[FIELDS_MAX + 1];
	unsigned int count;
};

#define PICK(rng, list) ((list)[rng_below(rng, sizeof(list) / sizeof(*(list)))])

/* The text appended since the last call is one field line. */
static void end_line(struct lines *lines)
{
	lines->start[++lines->count] = lines->text.len;
}

static void add_text(struct rng *rng, struct buffer *to, size_t len)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

	buffer_reserve(to, len);
	for (size_t i = 0; i < len; i++)
		to->data[to->len++] = (uint8_t)letters[rng_below(rng, sizeof(letters) - 1)];
}

static const char *draw_method(struct plan *plan, struct rng *rng)
{
	static const char *const bare[] = {"GET",  "GET",    "GET",     "GET",
					   "HEAD", "DELETE", "M-SEARCH"};
	static const char *const loaded[] = {"POST", "POST", "PUT", "PATCH", "X-Any!Token"};
	const char *method = plan->body_kind == BODY_NONE ? PICK(rng, bare) : PICK(rng, loaded);

	if (plan->stream == STREAM_UPGRADE)
		return "GET";
	plan->is_head = !strcmp(method, "HEAD");
	return method;
}

static void write_target(struct plan *plan, const struct settings *settings, struct rng *rng,
			 struct buffer *to)
{
	size_t most = settings->head_max < TARGET_MAX ? settings->head_max : TARGET_MAX;

	switch (rng_below(rng, 10)) {
	case 0:
		buffer_printf(to, "*");
		return;
	case 1:
		buffer_printf(to, "http://chaos.test:8080/absolute/%" PRIu64, plan->id);
		return;
	case 2:
		buffer_printf(to, "/traceparent:%%0d%%0atraceparent?HTTP/1.1=%" PRIu64, plan->id);
		return;
	case 3:
		buffer_printf(to, "/");
		add_text(rng, to, rng_below(rng, most));
		return;
	default:
		buffer_printf(to, "/r/%" PRIu64, plan->id);
	}
}

static void write_start(struct plan *plan, const struct settings *settings, struct rng *rng)
{
	if (plan->stream == STREAM_CONNECT) {
		buffer_printf(&plan->head, "CONNECT chaos.test:443 HTTP/1.1\r\n");
		return;
	}
	buffer_printf(&plan->head, "%s ", draw_method(plan, rng));
	write_target(plan, settings, rng, &plan->head);
	buffer_printf(&plan->head, " HTTP/1.%u\r\n", plan->is_http10 ? 0 : 1);
}

static void add_framing(struct plan *plan, struct rng *rng, struct lines *lines)
{
	static const char *const encodings[] = {"Transfer-Encoding: chunked",
						"transfer-encoding:chunked",
						"TRANSFER-ENCODING:  Chunked "};
	static const char *const lengths[] = {
	    "Content-Length: ", "content-length:", "CONTENT-LENGTH: \t"};

	if (plan->stream != STREAM_HTTP || plan->body_kind == BODY_NONE)
		return;
	if (plan->body_kind == BODY_CHUNKED)
		buffer_printf(&lines->text, "%s\r\n", PICK(rng, encodings));
	else
		buffer_printf(&lines->text, "%s%" PRIu64 "\r\n", PICK(rng, lengths),
			      plan->body_length);
	end_line(lines);
}

/* An offer to upgrade that the server declines; in a pipeline the rest would hang on it. */
static void draw_offer(struct plan *plan, const struct settings *settings, struct rng *rng)
{
	plan->offers = plan->stream == STREAM_HTTP && !plan->is_http10 && !plan->closes &&
		       !settings->plain && settings->mode != MODE_PIPELINE && rng_percent(rng, 3);
}

static void add_connection(struct plan *plan, struct lines *lines)
{
	struct buffer *to = &lines->text;

	if (plan->stream == STREAM_UPGRADE) {
		buffer_printf(to, "Connection: Upgrade\r\nUpgrade: chaos\r\n");
		end_line(lines);
	} else if (plan->closes && !plan->is_http10) {
		buffer_printf(to, "Connection: close\r\n");
		end_line(lines);
	} else if (plan->offers) {
		buffer_printf(to, "Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n");
		end_line(lines);
	}
	if (plan->expects) {
		buffer_printf(to, "Expect: 100-continue\r\n");
		end_line(lines);
	}
}

static void add_decoy(struct rng *rng, struct lines *lines)
{
	static const char *const decoys[] = {
	    "X-Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	    "traceparen: 1",
	    "traceparent-x: 2",
	    "tracestate-x: traceparent: 00",
	    "X-Empty:",
	    "X-Quote: \"GET / HTTP/1.1\"",
	};

	if (!rng_percent(rng, 15))
		return;
	buffer_printf(&lines->text, "%s\r\n", PICK(rng, decoys));
	end_line(lines);
}

static void add_own(struct plan *plan, const struct settings *settings, struct rng *rng,
		    struct lines *lines)
{
	bool changed = settings->expect == EXPECT_STRIP || settings->expect == EXPECT_RESTART;
	static const char *const names[] = {"traceparent:", "Traceparent: ", "TRACEPARENT: \t",
					    "TraceParent:  "};
	static const char *const ends[] = {"\r\n", "\r\n", " \r\n", "\t \r\n"};
	size_t start = lines->text.len;

	plan->line_hash = HASH_EMPTY;
	plan->own = plan->stream == STREAM_HTTP && rng_percent(rng, changed ? 60 : 10);
	if (!plan->own)
		return;
	buffer_printf(&lines->text, "%s00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-%02x%s",
		      PICK(rng, names), rng_next(rng) | 1, rng_next(rng), rng_next(rng) | 1,
		      (unsigned int)rng_below(rng, 4), PICK(rng, ends));
	plan->line_hash = hash_bytes(HASH_EMPTY, lines->text.data + start, lines->text.len - start);
	end_line(lines);
}

/* Sizes that matter: tiny, usual, around one segment, several segments. */
static size_t draw_size(const struct settings *settings, struct rng *rng)
{
	uint64_t dice = rng_below(rng, 100);
	size_t size;

	if (settings->mode == MODE_PIPELINE && dice >= 5)
		return rng_below(rng, 400);
	if (dice < 40)
		return 0;
	if (dice < 70)
		size = rng_between(rng, 150, 900);
	else if (dice < 85)
		size = rng_between(rng, 1150, 1500);
	else
		size = rng_between(rng, 1500, dice < 97 ? 8000 : 16384);
	return size < settings->head_max ? size : settings->head_max;
}

static void add_padding(struct rng *rng, struct lines *lines, size_t size)
{
	while (lines->text.len < size && lines->count < FIELDS_MAX - 1) {
		size_t left = size - lines->text.len;
		size_t len = rng_between(rng, 1, left > 4000 ? 1200 : 200);

		buffer_printf(&lines->text, "X-Pad-%u: ", lines->count);
		add_text(rng, &lines->text, len < left ? len : left);
		buffer_printf(&lines->text, "\r\n");
		end_line(lines);
	}
}

static void shuffle(struct rng *rng, unsigned int *order, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		order[i] = i;
	for (unsigned int i = count; i > 1; i--) {
		unsigned int other = (unsigned int)rng_below(rng, i), swap = order[i - 1];

		order[i - 1] = order[other];
		order[other] = swap;
	}
}

static bool is_traceparent(const uint8_t *line)
{
	return !strncasecmp((const char *)line, "traceparent:", 12);
}

static void write_lines(struct plan *plan, const struct lines *lines, struct rng *rng)
{
	unsigned int order[FIELDS_MAX];

	shuffle(rng, order, lines->count);
	plan->head_hash = hash_bytes(HASH_EMPTY, plan->head.data, plan->head.len);
	for (unsigned int i = 0; i < lines->count; i++) {
		const uint8_t *line = lines->text.data + lines->start[order[i]];
		size_t len = lines->start[order[i] + 1] - lines->start[order[i]];

		buffer_append(&plan->head, line, len);
		if (!is_traceparent(line))
			plan->head_hash = hash_bytes(plan->head_hash, line, len);
	}
	buffer_append(&plan->head, "\r\n", 2);
}

void plan_head_write(struct plan *plan, const struct settings *settings, struct rng *rng)
{
	struct lines lines = {0};

	if (plan->stream == STREAM_RAW) {
		buffer_append(&plan->head, talk_prefaces[rng_below(rng, TALK_PREFACES)],
			      TALK_PREFACE_LEN);
		return;
	}
	write_start(plan, settings, rng);
	buffer_printf(&lines.text, "Host: chaos.test\r\n");
	end_line(&lines);
	ask_write(&plan->ask, &lines.text);
	end_line(&lines);
	add_framing(plan, rng, &lines);
	draw_offer(plan, settings, rng);
	add_connection(plan, &lines);
	add_decoy(rng, &lines);
	add_own(plan, settings, rng, &lines);
	add_padding(rng, &lines, draw_size(settings, rng));
	write_lines(plan, &lines, rng);
	buffer_free(&lines.text);
}
