// SPDX-License-Identifier: Apache-2.0
/*
 * The fields of HTTP/2 connections that live long (bpf/fields.h): packets of requests leave, are
 * acknowledged as a whole or in part, and some leave again in other pieces. Numbers are held
 * against a list of every field that may still be asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fields.h"
#include "../random.h"

/* More than 2^32 bytes of requests. */
#define REQUESTS    10000000
#define REQUEST_MIN 16
#define REQUEST_MAX 900
#define PACKET_MAX  20
/* Fields that the list holds: all that are in flight, and those acknowledged last; a power of two.
 */
#define LISTED 512

/* A field that was added, by its place in the app stream, from the begin of the connection. */
struct listed {
	uint64_t frame, last;
	uint64_t before; /* bytes of all fields before it */
};

struct connection {
	struct edits edits;
	struct field_places places;
	struct listed list[LISTED];
	uint64_t count; /* fields so far */
	uint64_t app;   /* bytes so far */
	uint64_t acked; /* of them */
	uint32_t isn;
	struct random random;
};

static uint32_t number(const struct connection *c, uint64_t app)
{
	return c->isn + (uint32_t)app;
}

/* Wire bytes before app byte `a`, which is not older than the list. */
static uint64_t wire_of(const struct connection *c, uint64_t a)
{
	for (uint64_t i = c->count; i > 0 && c->count - i < LISTED; i--) {
		const struct listed *l = &c->list[(i - 1) % LISTED];

		if (l->last < a)
			return a + l->before + FIELD_LEN;
	}
	assert_true(c->count < LISTED);
	return a;
}

/* A request of `len` bytes, whose field is one more of `edit`. */
static void add_request(struct connection *c, struct edit *edit, uint32_t len)
{
	const uint64_t last = c->app + len - 1;

	if (!edit->places) {
		edit->at = number(c, last);
		edit->kind = EDIT_FIELDS;
		edit->front = len - 1;
		edit->first = c->places.end;
	}
	c->places.ring[c->places.end++ & FIELDS_MASK] =
	    (struct field_place){.last = number(c, last) - edit->at, .before = len};
	edit->reach = number(c, last) + 1 - edit->at;
	edit->places++;
	edit->len += FIELD_LEN;
	c->list[c->count % LISTED] =
	    (struct listed){.frame = c->app, .last = last, .before = c->count * FIELD_LEN};
	c->count++;
	c->app += len;
}

/* As many places as fit into what the flow may have in flight. */
static uint32_t room(const struct connection *c)
{
	const struct edits_view v = edits_view(&c->edits);

	if (v.count == EDITS_MAX)
		return 0;
	return v.count ? FIELDS_MAX - (c->places.end - edits_at(&c->edits, v, 0)->first)
		       : FIELDS_MAX;
}

static void send_packet(struct connection *c)
{
	uint32_t n = random_in(&c->random, 1, PACKET_MAX);
	struct edit edit = {};

	if (n > room(c))
		return;
	while (n--)
		add_request(c, &edit, random_in(&c->random, REQUEST_MIN, REQUEST_MAX));
	assert_int_equal(edits_add(&c->edits, &edit), 0);
}

/* What a packet of app bytes [from, to) carries is what the list says, in its order. */
static void check_packet(struct connection *c, uint64_t from, uint64_t to)
{
	const struct edits_view v = edits_view(&c->edits);
	uint64_t at = c->count > LISTED ? c->count - LISTED : 0;
	struct fields_walk walk;
	struct field_met met;
	enum fields_step step;

	fields_begin(&walk, v, number(c, from), number(c, to));
	while ((step = fields_step(&c->edits, v, &c->places, &walk, &met)) != FIELDS_OVER) {
		const struct listed *l;

		if (step != FIELDS_MET)
			continue;
		while (c->list[at % LISTED].last < from)
			at++;
		assert_true(at < c->count);
		l = &c->list[at++ % LISTED];
		assert_int_equal(met.frame, number(c, l->frame));
		assert_int_equal(met.last, number(c, l->last));
		assert_int_equal(met.added, l->last < to);
		assert_int_equal(met.length, l->last + 1 - l->frame - FIELDS_FRAME_HEADER);
	}
	while (at < c->count && c->list[at % LISTED].last < from)
		at++;
	assert_true(at == c->count || c->list[at % LISTED].frame >= to);
	assert_int_equal(walk.wire, number(c, wire_of(c, from)));
}

/* Some bytes that are not acknowledged leave again. */
static void send_again(struct connection *c)
{
	uint64_t from, to;

	if (c->acked == c->app)
		return;
	from = c->acked + random_in(&c->random, 0, c->app - c->acked - 1);
	to = from + random_in(&c->random, 1, c->app - from);
	check_packet(c, from, to);
}

/* The peer has all before some wire byte: the app hears of just as much, and without the places of
 * no more. */
static void acknowledge(struct connection *c)
{
	const uint64_t part = c->acked + random_in(&c->random, 0, c->app - c->acked);
	const uint64_t app = random_in(&c->random, 0, 3) ? part : c->app;
	const uint32_t wire = number(c, wire_of(c, app));

	assert_int_equal(fields_to_app(&c->edits, &c->places, wire), number(c, app));
	assert_int_equal(fields_to_wire(&c->edits, &c->places, number(c, app)), wire);
	assert_false(seq_before(number(c, app), edits_to_app(&c->edits, wire)));
	assert_false(seq_before(edits_to_app_up(&c->edits, wire), number(c, app)));
	edits_retire(&c->edits, number(c, app));
	c->acked = app;
}

static void ten_million_requests(void **state)
{
	static struct connection c;

	(void)state;
	c.isn = 0xfffff000;
	c.random.state = 1;
	while (c.count < REQUESTS) {
		send_packet(&c);
		if (!random_in(&c.random, 0, 7))
			send_again(&c);
		if (!random_in(&c.random, 0, 2))
			acknowledge(&c);
	}
	assert_true(c.app > UINT32_MAX);
	while (c.acked < c.app)
		acknowledge(&c);
	assert_int_equal(edits_count(&c.edits), 0);
	assert_int_equal(edits_base(&c.edits), (uint32_t)(c.count * FIELD_LEN));
}

/* Span ids of one connection, and of two whose seeds differ in a bit, are all different. */
static void ids_differ(void **state)
{
	const struct field_places one = {.seed = 2}, other = {.seed = 3};

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_not_equal(fields_span_id(&one, i), fields_span_id(&one, i + 1));
		assert_int_not_equal(fields_span_id(&one, i), fields_span_id(&other, i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ten_million_requests),
	    cmocka_unit_test(ids_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
