// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "life.h"

#define SEEDS 2000

/* Half of the lives pass 2^32 with their numbers, some 2^31. */
static uint32_t random_isn(struct random *r)
{
	uint32_t near = random_in(r, 0, MODEL_APP_MAX);

	switch (random_in(r, 0, 3)) {
	case 0:
		return 0u - near;
	case 1:
		return 0u - 2 * near;
	case 2:
		return 0x80000000u - near;
	default:
		return random_next(r);
	}
}

static void life_start(struct life *l, struct model *model, uint64_t seed)
{
	memset(l, 0, sizeof(*l));
	l->random.state = l->seed = seed;
	l->model = model;
	model_start(model, random_isn(&l->random));
}

uint32_t app_number(const struct life *l, uint32_t offset)
{
	return l->model->isn + offset;
}

uint32_t to_wire(const struct life *l, uint32_t app)
{
	return edits_to_wire(&l->edits, app_number(l, app)) - l->model->isn;
}

uint32_t to_app(const struct life *l, uint32_t wire)
{
	return edits_to_app(&l->edits, l->model->isn + wire) - l->model->isn;
}

uint32_t to_app_up(const struct life *l, uint32_t wire)
{
	return edits_to_app_up(&l->edits, l->model->isn + wire) - l->model->isn;
}

/* The app writes; where there is room, an edit may be made before the first byte, or change some.
 */
static void write_some(struct life *l)
{
	uint32_t n = random_in(&l->random, 1, 40);
	struct edit e = {.at = app_number(l, l->model->app_len)};

	e.trace_flags = random_next(&l->random);
	if (random_once_in(&l->random, 4)) {
		e.kind = EDIT_CUT;
		e.extent = n;
	} else {
		e.len = 2 * random_in(&l->random, 1, 50);
	}
	if (random_once_in(&l->random, 3) || edits_add(&l->edits, &e))
		e.len = 0;
	else
		l->place[l->made++] = l->model->app_len;
	for (uint32_t i = 0; i < n; i++)
		model_write(l->model, random_next(&l->random), i ? 0 : e.len, e.trace_flags);
}

/* Put app bytes [from, to) where a packet with all their edits would bring them. */
static void transmit(struct life *l, uint32_t from, uint32_t to)
{
	uint32_t at = to_wire(l, from);

	for (uint32_t a = from; a < to; a++) {
		for (uint32_t i = 0; i < edits_count(&l->edits); i++) {
			const struct edit *e = edits_get(&l->edits, i);

			if (e->at != app_number(l, a))
				continue;
			memset(l->receiver + at, e->trace_flags, e->len);
			at += e->len;
		}
		l->receiver[at++] = l->model->app[a];
	}
}

/* A segment of which something is not acknowledged yet, new or again, cut anywhere. */
static void send_some(struct life *l)
{
	uint32_t una = to_app(l, l->acked), from, to, new_from;

	if (una == l->model->app_len)
		return;
	from = random_in(&l->random, una - una % 50, l->model->app_len - 1);
	to = random_in(&l->random, (from < una ? una : from) + 1, l->model->app_len);
	transmit(l, from, to);
	new_from = l->model->wire_of[from];
	if (new_from < l->acked)
		new_from = l->acked;
	expect(l, "difference between a segment's new bytes and the wire stream",
	       memcmp(l->receiver + new_from, l->model->wire + new_from,
		      l->model->wire_of[to] - new_from),
	       0);
}

/* The peer acknowledges up to any wire byte; what it has acknowledged retires. */
static void acknowledge(struct life *l)
{
	uint32_t before = edits_count(&l->edits), retired;

	if (l->acked == l->model->wire_len)
		return;
	l->acked = random_in(&l->random, l->acked, l->model->wire_len);
	retired = edits_retire(&l->edits, app_number(l, to_app(l, l->acked)));
	expect(l, "edits in flight after retiring", edits_count(&l->edits), before - retired);
}

static void step(struct life *l)
{
	switch (random_in(&l->random, 0, 4)) {
	case 0:
	case 1:
		if (l->model->app_len < MODEL_APP_MAX - 40)
			write_some(l);
		break;
	case 2:
	case 3:
		send_some(l);
		break;
	default:
		acknowledge(l);
	}
}

void in_every_life(void (*check)(struct life *l))
{
	struct model *model = calloc(1, sizeof(*model));
	struct life *l = malloc(sizeof(*l));

	assert_non_null(model);
	assert_non_null(l);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		life_start(l, model, seed);
		for (int i = 0; i < LIFE_STEPS; i++) {
			step(l);
			check(l);
		}
	}
	free(l);
	free(model);
}
