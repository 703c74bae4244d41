/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How seldom a faulty agent errs. */
#define FAULT_EVERY 50

static void insert(struct buffer *head, size_t at, const char *text)
{
	size_t len = strlen(text);

	buffer_reserve(head, len);
	memmove(head->data + at + len, head->data + at, head->len - at);
	memcpy(head->data + at, text, len);
	head->len += len;
}

static void write_value(enum fake fake, uint64_t seed, uint64_t id, char *to, size_t size)
{
	struct rng rng = rng_for(seed + 1, fake == FAKE_SAME ? 0 : id);

	if (fake == FAKE_ZERO)
		snprintf(to, size, "00-%032d-%016d-03", 0, 0);
	else
		snprintf(to, size, "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-%s",
			 rng_next(&rng), rng_next(&rng), rng_next(&rng),
			 fake == FAKE_MALFORMED ? "3" : "03");
}

static void add_line(struct plan *plan, uint64_t seed, enum fake fake)
{
	char value[80], line[120];

	write_value(fake, seed, plan->id, value, sizeof(value));
	snprintf(line, sizeof(line), "traceparent: %s\r\n", value);
	/* one byte too early, it lands in the line before */
	insert(&plan->head, plan->head.len - (fake == FAKE_MISPLACED ? 5 : 2), line);
}

void fake_add(struct plan *plan, const struct settings *settings)
{
	bool err = plan->id % FAULT_EVERY == FAULT_EVERY - 1;
	enum fake fake = err ? settings->fake : FAKE_ONE;

	if (settings->fake == FAKE_NONE || plan->stream == STREAM_RAW ||
	    plan->stream == STREAM_CONNECT)
		return;
	if (plan->own) {
		if (settings->fake == FAKE_OVERRIDE)
			add_line(plan, settings->seed, FAKE_ONE);
		return;
	}
	if (fake == FAKE_MISSING)
		return;
	if (fake == FAKE_DOUBLE)
		add_line(plan, settings->seed + 1, FAKE_ONE);
	add_line(plan, settings->seed, fake);
}
