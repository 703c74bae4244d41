/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "fake.h"
#include "hash.h"
#include "plan_head.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Rare sizes must not eat the run: most bodies are short, few are long. */
static uint64_t draw_length(struct rng *rng, uint64_t max)
{
	uint64_t dice = rng_below(rng, 1000);
	uint64_t limit = dice < 100   ? 0
			 : dice < 500 ? 200
			 : dice < 800 ? 4000
			 : dice < 955 ? 65536
			 : dice < 995 ? 262144
				      : max;

	return rng_between(rng, limit ? 1 : 0, limit < max ? limit : max);
}

/* A pipeline of long requests would have no depth. */
static uint64_t short_max(const struct settings *settings, struct rng *rng, uint64_t max)
{
	if (settings->mode == MODE_PIPELINE && rng_percent(rng, 95) && max > 300)
		return 300;
	return max;
}

static void draw_stream(struct plan *plan, const struct settings *settings, struct rng *rng,
			bool first)
{
	uint64_t dice = rng_below(rng, 100);

	if (!plan->last || settings->plain || settings->post_only)
		return;
	if (dice < 5)
		plan->stream = STREAM_UPGRADE;
	else if (dice < 8)
		plan->stream = STREAM_CONNECT;
	else if (dice < 11 && first)
		plan->stream = STREAM_RAW;
	else if (dice < 20)
		plan->is_http10 = true;
}

static void draw_body(struct plan *plan, const struct settings *settings, struct rng *rng)
{
	uint64_t max = short_max(settings, rng, settings->body_max);
	bool tunnel = plan->stream != STREAM_HTTP;

	plan->body_seed = rng_next(rng);
	if (tunnel || settings->post_only || rng_percent(rng, 60))
		plan->body_length = draw_length(rng, max);
	else
		return;
	plan->body_kind = BODY_LENGTH;
	if (tunnel)
		return;
	if (!plan->is_http10 && rng_percent(rng, 40))
		plan->body_kind = BODY_CHUNKED;
	plan->expects = !plan->is_http10 && plan->body_length && rng_percent(rng, 5);
}

static void draw_answer(struct plan *plan, const struct settings *settings, struct rng *rng)
{
	uint64_t dice = rng_below(rng, 100);
	struct ask *ask = &plan->ask;

	ask->id = plan->id;
	ask->status = 200;
	ask->size = draw_length(rng, short_max(settings, rng, settings->body_max));
	if (plan->stream != STREAM_HTTP)
		return;
	ask->kind = dice < 50 ? BODY_LENGTH : dice < 75 ? BODY_CHUNKED : BODY_NONE;
	if (dice >= 90 && plan->last)
		ask->kind = BODY_UNTIL_CLOSE;
	else if (dice >= 94)
		ask->status = dice < 97 ? 204 : 304;
	if (!plan->is_http10 && rng_percent(rng, 5))
		ask->early = 1 + (unsigned int)rng_below(rng, 2);
}

static void draw_end(struct plan *plan, struct rng *rng)
{
	bool until_close = plan->ask.kind == BODY_UNTIL_CLOSE;

	if (!plan->last || plan->stream != STREAM_HTTP)
		return;
	plan->closes = plan->is_http10 || until_close || rng_percent(rng, 50);
	plan->half_close = !plan->expects && rng_percent(rng, 30);
}

/* A cut at every byte makes a packet per byte: for short heads only, unless it was asked for. */
static void draw_cut(struct plan *plan, const struct settings *settings, struct rng *rng)
{
	static const enum cut drawn[] = {CUT_WHOLE, CUT_WHOLE,  CUT_WHOLE, CUT_HEAD,
					 CUT_TWO,   CUT_PIECES, CUT_BYTES};

	plan->cut = settings->cut == CUT_MIXED ? drawn[rng_below(rng, 7)] : settings->cut;
	if (plan->cut == CUT_BYTES && plan->head.len > 600)
		plan->cut = settings->cut == CUT_MIXED ? CUT_TWO : CUT_PIECES;
	plan->cut_at = 1 + plan->id % (plan->head.len - 1);
}

struct plan *plan_new(const struct settings *settings, uint64_t id, bool first, bool last)
{
	struct rng rng = rng_for(settings->seed, id);
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan) {
		fprintf(stderr, "out of memory for a request\n");
		exit(2);
	}
	plan->id = id;
	plan->last = last;
	draw_stream(plan, settings, &rng, first);
	draw_body(plan, settings, &rng);
	draw_answer(plan, settings, &rng);
	draw_end(plan, &rng);
	plan_head_write(plan, settings, &rng);
	fake_add(plan, settings);
	draw_cut(plan, settings, &rng);
	body_writer_start(&plan->body, plan->body_kind, plan->body_seed, plan->body_length);
	plan->status = plan->stream == STREAM_UPGRADE ? 101 : plan->ask.status;
	return plan;
}

void plan_free(struct plan *plan)
{
	if (plan)
		buffer_free(&plan->head);
	free(plan);
}

bool plan_is_eligible(const struct plan *plan)
{
	return !plan->own && (plan->stream == STREAM_HTTP || plan->stream == STREAM_UPGRADE);
}

uint64_t plan_size(const struct plan *plan)
{
	return plan->head.len + plan->body_length;
}

const char *plan_describe(const struct plan *plan, char *to, size_t size)
{
	static const char *const streams[] = {"", ", upgrade", ", CONNECT", ", not HTTP"};
	static const char *const bodies[] = {"no body", "length", "chunked", "until close"};
	static const char *const cuts[] = {"whole", "head", "two", "pieces", "bytes"};

	snprintf(to, size,
		 "request %" PRIu64 " (head %zu B, %s %" PRIu64 " B, cut %s at %zu%s%s%s%s%s%s)",
		 plan->id, plan->head.len, bodies[plan->body_kind], plan->body_length,
		 cuts[plan->cut], plan->cut_at, streams[plan->stream],
		 plan->offers ? ", offers to upgrade" : "",
		 plan->ask.early ? ", answered by 103" : "", plan->expects ? ", expects 100" : "",
		 plan->own ? ", own traceparent" : "", plan->last ? ", last" : "");
	return to;
}
