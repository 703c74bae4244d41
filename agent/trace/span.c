// SPDX-License-Identifier: Apache-2.0
#include "traceparent.h"
#include "trace/span.h"

bool span_is_error(const struct span *span)
{
	unsigned int from = span->kind == SPAN_SERVER ? 500 : 400;

	return span->outcome != RECORD_ANSWERED || span->status >= from;
}

bool span_is_sampled(const struct span *span)
{
	return span->trace_flags & TRACEPARENT_SAMPLED;
}

const char *span_kind_name(enum span_kind kind)
{
	return kind == SPAN_SERVER ? "server" : "client";
}
