// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "http/http2/code.h"
#include "http/http2/framing.h"

/* A field that leaves no trace in any table: a literal without indexing, its name coded. */
static const uint8_t header[] = "\x00\x88\x4d\x83\x21\x6b\x1d\x85\xa9\x3f\x37"
				"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
#define HEADER_LEN (sizeof(header) - 1)

static char text[256];

#define PARENT_MAX 64

/* A traceparent as it was read in a block: the last one, if it was no entry of a table. */
struct parent {
	char text[PARENT_MAX];
	size_t len;
	int coded, read;
	struct http2_code code;
};

/* A run of the automaton over a connection. */
struct run {
	const struct connection *c;
	struct http2 h;
	size_t block;  /* the next one to come */
	size_t copied; /* bytes that are in `out` */
	struct parent parent[CONNECTION_BLOCKS];
	uint8_t out[2 * CONNECTION_BYTES];
	size_t out_len;
};

#define EXPECT(what, condition)                                                                    \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			snprintf(text, sizeof(text), "block %zu: %s", r->block, what);             \
			return text;                                                               \
		}                                                                                  \
	} while (0)

static void copy_to(struct run *r, size_t end)
{
	memcpy(r->out + r->out_len, r->c->byte + r->copied, end - r->copied);
	r->out_len += end - r->copied;
	r->copied = end;
}

/* The field is added at the end of the block, and the frame's length says so. */
static void insert(struct run *r, size_t place)
{
	size_t frame = place - http2_before_end(&r->h),
	       length = http2_frame_length(&r->h) + HEADER_LEN;

	copy_to(r, frame);
	r->out[r->out_len] = length >> 16;
	r->out[r->out_len + 1] = length >> 8;
	r->out[r->out_len + 2] = length;
	r->out_len += 3;
	r->copied += 3;
	copy_to(r, place);
	memcpy(r->out + r->out_len, header, HEADER_LEN);
	r->out_len += HEADER_LEN;
}

static const char *at_blank(struct run *r, size_t place)
{
	const struct block *b;

	EXPECT("there is none", r->block < r->c->count);
	b = &r->c->block[r->block];
	EXPECT("it begins no request", b->request);
	EXPECT("it ends elsewhere", place == b->end);
	EXPECT("its frame begins elsewhere",
	       b->continued || place - http2_before_end(&r->h) == b->begin);
	if (!b->continued)
		insert(r, place);
	return NULL;
}

static const char *at_head(struct run *r)
{
	const struct block *b = &r->c->block[r->block];
	__u16 flags = r->h.flags;

	EXPECT("there is none", r->block < r->c->count);
	EXPECT("its stream is another one", r->h.stream == b->stream);
	EXPECT("something is not known", !(flags & HTTP2_UNSURE));
	EXPECT("whether it is a request", !!(flags & HTTP2_TRAILERS) != b->request);
	EXPECT("whether it has a traceparent", !(flags & HTTP2_TRACEPARENT) == !b->parents);
	EXPECT("whether it has two", !!(flags & HTTP2_TWO_PARENTS) == (b->parents > 1));
	EXPECT("whether it has a tracestate", !(flags & HTTP2_TRACESTATE) == !b->states);
	EXPECT("whether it is in several frames", !(flags & HTTP2_CONTINUED) == !b->continued);
	EXPECT("whether it ends its stream", !(flags & HTTP2_ENDS_STREAM) == !b->ends_stream);
	r->block++;
	return NULL;
}

/* A piece of a value. */
static void take_value(struct run *r, const uint8_t *piece, size_t len)
{
	struct parent *p = &r->parent[r->block];

	if (!http2_is_parent(r->h.name))
		return;
	p->read = 1;
	p->coded = r->h.coded;
	for (size_t i = 0; i < len; i++) {
		if (!p->coded && p->len < PARENT_MAX)
			p->text[p->len++] = (char)piece[i];
		if (!p->coded)
			continue;
		http2_code_feed(&p->code, piece[i]);
		for (int n = 0; n < HTTP2_CODE_CHARACTERS; n++) {
			char character = (char)http2_code_next(&p->code);

			if (character && p->len < PARENT_MAX)
				p->text[p->len++] = character;
		}
	}
}

/* One step at byte `at`, of which those before `end` are at hand. Returns what is wrong. */
static const char *step(struct run *r, size_t *at, size_t end)
{
	static struct protocol_window window;
	__u64 skippable = http2_skippable(&r->h);
	struct protocol_step step;
	size_t n = end - *at;

	if (skippable && n) {
		n = n < skippable ? n : skippable;
		http2_skip(&r->h, n);
		*at += n;
		return NULL;
	}
	n = n < PROTOCOL_WINDOW ? n : PROTOCOL_WINDOW;
	memcpy(window.byte, r->c->byte + *at, n);
	memset(window.byte + n, 0xa5, sizeof(window.byte) - n);
	step = http2_scan(&r->h, &window, 0, n);
	EXPECT("a step goes too far", step.next <= n && step.at <= step.next);
	*at += step.next;
	EXPECT("it stopped", step.event != PROTOCOL_STOP);
	if (step.event == PROTOCOL_VALUE)
		take_value(r, window.byte + step.at, step.next - step.at);
	if (step.event == PROTOCOL_BLANK)
		return at_blank(r, *at);
	return step.event == PROTOCOL_HEAD ? at_head(r) : NULL;
}

static const char *read_all(struct run *r, struct choices *choices)
{
	const struct connection *c = r->c;
	const char *wrong = NULL;
	size_t at = 0, end = 0;

	while (!wrong && (at < c->len || http2_pending(&r->h))) {
		if (at == end && !http2_pending(&r->h)) {
			size_t most = choose(choices, 3) ? 1500 : 12;

			end = at + 1 + choose(choices, most);
			end = end < c->len ? end : c->len;
		}
		wrong = step(r, &at, end);
	}
	return wrong;
}

/* Fields as a server decodes them: those of a connection, or of the one with additions. */
struct fields {
	const struct connection *c;
	size_t block;
	uint64_t hash; /* of all fields but the added ones */
	size_t added;  /* fields that were added */
	size_t misplaced;
	int last_added;      /* the field before was an added one */
	const struct run *r; /* NULL: what was read of it is not compared */
	const char *wrong;
};

/* Is the only traceparent of a block what was read of it? Nothing was if it is in a table. */
static const char *compare_parent(const struct run *r, size_t block, const char *value,
				  size_t value_len)
{
	const struct parent *p = &r->parent[block];

	if (r->c->block[block].parents != 1 || !p->read)
		return NULL;
	if (p->coded && !http2_code_ends(&p->code))
		return "a coded traceparent was not read";
	if (p->len != value_len || memcmp(p->text, value, value_len) != 0)
		return "a traceparent was read as another one";
	return NULL;
}

static void hash_bytes(uint64_t *hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*hash = (*hash ^ (uint8_t)bytes[i]) * 0x100000001b3ull;
	*hash = (*hash ^ len) * 0x100000001b3ull;
}

static void each_field(void *context, size_t block, const char *name, size_t name_len,
		       const char *value, size_t value_len)
{
	struct fields *f = context;
	int ours = value_len == 55 && !memcmp(value, header + 11, 55) && name_len == 11 &&
		   !memcmp(name, "traceparent", 11);

	if (f->r && !f->wrong && name_len == 11 && !memcmp(name, "traceparent", 11))
		f->wrong = compare_parent(f->r, block, value, value_len);
	if (f->block == block && f->last_added)
		f->misplaced +=
		    !ours; /* behind an added one nothing comes, but what looks like it */
	f->last_added = 0;
	f->block = block;
	if (ours) {
		f->added++;
		return;
	}
	hash_bytes(&f->hash, (const char *)&block, sizeof(block));
	hash_bytes(&f->hash, name, name_len);
	hash_bytes(&f->hash, value, value_len);
}

/* The connection with additions, against the one without. */
static const char *compare(const struct run *r)
{
	struct fields before = {.c = r->c, .r = r}, after = {.c = r->c};
	const char *wrong;
	size_t expected = 0;

	wrong = connection_decode(r->c->byte, r->c->len, each_field, &before);
	if (!wrong)
		wrong = before.wrong;
	if (wrong)
		return wrong;
	wrong = connection_decode(r->out, r->out_len, each_field, &after);
	if (wrong)
		return wrong;
	for (size_t i = 0; i < r->c->count; i++)
		expected += r->c->block[i].request && !r->c->block[i].continued;
	if (after.added != before.added + expected)
		return "not every request has the field that was added";
	return before.hash == after.hash ? NULL : "fields are others than before";
}

const char *check_connection(const struct connection *c, struct choices *choices)
{
	static struct run r;
	const char *wrong;

	r.c = c;
	r.block = r.copied = r.out_len = 0;
	memset(r.parent, 0, sizeof(r.parent));
	http2_init(&r.h, PROTOCOL_REQUEST);
	wrong = read_all(&r, choices);
	if (wrong)
		return wrong;
	if (r.block != c->count)
		return "blocks are missing";
	copy_to(&r, c->len);
	return compare(&r);
}

/* The events of a reading, as one number. Pieces of a value are not told apart. */
struct reading {
	struct http2 h;
	uint64_t hash;
	size_t value; /* bytes of the value that is being read */
};

static void note(struct reading *r, enum protocol_event event, size_t place)
{
	hash_bytes(&r->hash, (const char *)&event, sizeof(event));
	hash_bytes(&r->hash, (const char *)&place, sizeof(place));
	hash_bytes(&r->hash, (const char *)&r->h.stream, sizeof(r->h.stream));
	hash_bytes(&r->hash, (const char *)&r->h.flags, sizeof(r->h.flags));
}

/* As many bytes as a step takes of bytes[at..end). Returns how many, ~0 if that cannot be. */
static size_t read_some(struct reading *r, const uint8_t *bytes, size_t at, size_t end)
{
	static struct protocol_window window;
	__u64 skippable = http2_skippable(&r->h);
	size_t n = end - at;
	struct protocol_step step;
	enum protocol_event event;

	if (skippable && n) {
		n = n < skippable ? n : skippable;
		event = http2_skip(&r->h, n);
		if (event)
			note(r, event, at + n);
		return n;
	}
	n = n < PROTOCOL_WINDOW ? n : PROTOCOL_WINDOW;
	memcpy(window.byte, bytes + at, n);
	memset(window.byte + n, 0x5a, sizeof(window.byte) - n);
	step = http2_scan(&r->h, &window, 0, n);
	if (step.next > n || step.at > step.next)
		return ~0ul;
	if (step.event == PROTOCOL_VALUE)
		r->value += step.next - step.at;
	else if (step.event && step.event != PROTOCOL_STOP)
		note(r, step.event, at + step.next);
	return step.next;
}

/* The number that stands for what is read; 0: a step went too far, or did nothing for ever. */
static uint64_t read_bytes(const uint8_t *bytes, size_t len, enum protocol_kind kind,
			   struct choices *choices)
{
	static struct reading r;
	size_t at = 0, end = choices ? 0 : len;

	memset(&r, 0, sizeof(r));
	r.hash = 1;
	http2_init(&r.h, kind);
	for (size_t steps = 0; r.h.state != HTTP2_AT_STOP && (at < len || http2_pending(&r.h));
	     steps++) {
		size_t n;

		if (at == end && !http2_pending(&r.h)) {
			end = at + 1 + choose(choices, 40);
			end = end < len ? end : len;
		}
		n = read_some(&r, bytes, at, end);
		if (n == ~0ul || steps > 4 * len + 16)
			return 0;
		at += n;
	}
	hash_bytes(&r.hash, (const char *)&r.h.stop, sizeof(r.h.stop));
	hash_bytes(&r.hash, (const char *)&r.value, sizeof(r.value));
	return r.hash ?: 1;
}

const char *check_bytes(const uint8_t *bytes, size_t len, struct choices *choices)
{
	for (int kind = PROTOCOL_REQUEST; kind <= PROTOCOL_RESPONSE; kind++) {
		uint64_t whole = read_bytes(bytes, len, kind, NULL),
			 cut = read_bytes(bytes, len, kind, choices);

		if (!whole || !cut)
			return "a step goes too far, or nowhere";
		if (whole != cut)
			return "cut, it is read in another way";
	}
	return NULL;
}
