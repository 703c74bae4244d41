// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "burn.h"
#include "traces_ctx.h"

#define FAULT_EVERY   10
#define TRACE_ID_AT   3 /* in a traceparent: version and "-" come first */
#define PARENT_ID_AT  36
#define TRACEPARENT   55
#define BACKGROUND_ID "-"

static int map = -1;
static const char *fault = "none";
static struct traces_ctx other; /* of some other request; without a lock: any wrong id will do */

void writer_open(const char *pin, const char *name)
{
	map = bpf_obj_get(pin);
	fault = name;
	if (map < 0) {
		perror(pin);
		exit(EXIT_FAILURE);
	}
}

static bool makes(const char *name, const struct work *work)
{
	return work->serial % FAULT_EVERY == FAULT_EVERY - 1 && !strcmp(name, fault);
}

static void unhex(__u8 *bytes, const char *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sscanf(text + 2 * i, "%2hhx", &bytes[i]);
}

static struct traces_ctx context_of(const struct work *work)
{
	struct traces_ctx context = {};

	if (strlen(work->traceparent) >= TRACEPARENT) {
		unhex(context.trace_id, work->traceparent + TRACE_ID_AT, sizeof(context.trace_id));
		unhex(context.span_id, work->traceparent + PARENT_ID_AT, sizeof(context.span_id));
	} else {
		context.trace_id[0] = 0xaa;
		memcpy(context.trace_id + 8, &work->serial, sizeof(work->serial));
	}
	if (!makes("parent", work))
		context.span_id[0] ^= 0x80; /* a span of its own */
	if (makes("zero", work))
		memset(context.span_id, 0, sizeof(context.span_id));
	return context;
}

static void publish(const struct traces_ctx *context)
{
	__u64 key = (__u64)getpid() << 32 | (__u32)gettid();

	bpf_map_update_elem(map, &key, context, BPF_ANY);
}

static bool is_background(const struct work *work)
{
	return !strcmp(work->id, BACKGROUND_ID);
}

/* Work for no request has no context, but by mistake. */
static bool is_published(const struct work *work)
{
	return map >= 0 && (!is_background(work) || !strcmp(fault, "idle"));
}

void writer_begin(const struct work *work)
{
	struct traces_ctx context;

	if (!is_published(work))
		return;
	context = is_background(work) ? other : context_of(work);
	if (!makes("absent", work) && !makes("late", work))
		publish(makes("wrong", work) ? &other : &context);
	if (!is_background(work))
		other = context;
}

void writer_halfway(const struct work *work)
{
	struct traces_ctx context;

	if (map < 0 || is_background(work))
		return;
	context = context_of(work);
	if (makes("span", work))
		context.span_id[7] ^= 1;
	if (makes("late", work) || makes("span", work))
		publish(&context);
}

/* From then on a thread leaves all of them: its next request would clean up behind the one. */
static bool leaves_stale(const struct work *work)
{
	static _Thread_local bool does;

	does |= makes("stale", work);
	return does;
}

void writer_end(const struct work *work)
{
	__u64 key = (__u64)getpid() << 32 | (__u32)gettid();

	if (is_published(work) && !leaves_stale(work))
		bpf_map_delete_elem(map, &key);
}
