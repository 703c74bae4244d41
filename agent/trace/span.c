// SPDX-License-Identifier: Apache-2.0
#include "base/reason_names.h"
#include "traceparent.h"
#include "trace/span.h"

bool span_is_error(const struct span *span)
{
	unsigned int from = span->kind == SPAN_SERVER ? 500 : 400;

	/* A client that does not wait for the response is no error of the server. */
	if (span->outcome != RECORD_ANSWERED && span->outcome != RECORD_CLIENT_CLOSED)
		return true;
	return span->status >= from;
}

const char *span_outcome_name(enum record_outcome outcome)
{
	static const char *const names[RECORD_OUTCOMES] = {
	    [RECORD_ANSWERED] = "answered",
	    [RECORD_CLOSED] = "closed",
	    [RECORD_RESET] = "reset",
	    [RECORD_GIVEN_UP] = "given-up",
	    [RECORD_CLIENT_CLOSED] = "client-closed",
	};

	return outcome < RECORD_OUTCOMES ? names[outcome] : "closed";
}

bool span_is_sampled(const struct span *span)
{
	return span->trace_flags & TRACEPARENT_SAMPLED;
}

static const char *name_of(unsigned int reason)
{
	const struct reason_row *row = reason_row(reason);

	return row ? row->name : NULL;
}

struct span_cause span_cause(const struct span *span)
{
	struct span_cause cause = {};

	if (span->kind != SPAN_CLIENT)
		return cause;
	cause.header = name_of(span->reason);
	cause.evidence = name_of(REASON_EVIDENCE_NONE + span->evidence);
	if (span->veto)
		cause.veto = name_of(REASON_VETO_NONE + span->veto);
	return cause;
}

const char *span_kind_name(enum span_kind kind)
{
	return kind == SPAN_SERVER ? "server" : "client";
}
