// SPDX-License-Identifier: Apache-2.0
/*
 * Instead of burn_writer.c: a program that is instrumented with OpenTelemetry, and publishes the
 * trace that its request has brought, with a span of its own, by the thread context of OTEP 4947.
 */
#include <stdlib.h>
#include <string.h>

#include "burn.h"
#include "otel_record.h"

#define TRACE_ID_AT 3 /* in a traceparent: version and "-" come first */
#define TRACEPARENT 55

__thread struct otel_record *otel_thread_ctx_v1;
static __thread struct otel_record mine;

void writer_open(const char *pin, const char *fault)
{
	(void)pin;
	(void)fault;
}

/* A byte of two hex digits. */
static uint8_t byte_of(const char *text)
{
	const char digits[] = {text[0], text[1], '\0'};

	return (uint8_t)strtoul(digits, NULL, 16);
}

void writer_begin(const struct work *work)
{
	if (strlen(work->traceparent) < TRACEPARENT)
		return;
	for (size_t i = 0; i < sizeof(mine.trace_id); i++)
		mine.trace_id[i] = byte_of(work->traceparent + TRACE_ID_AT + 2 * i);
	memcpy(mine.span_id, &(uint64_t){work->serial + 1}, sizeof(mine.span_id));
	mine.valid = 1;
	otel_thread_ctx_v1 = &mine;
}

void writer_halfway(const struct work *work)
{
	(void)work;
}

void writer_end(const struct work *work)
{
	(void)work;
	otel_thread_ctx_v1 = NULL;
}
