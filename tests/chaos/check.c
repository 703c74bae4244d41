/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "hash.h"
#include "payload.h"

#include <stdio.h>
#include <string.h>

static const char *check_received(const struct plan *plan, const struct report *report)
{
	bool has_body = plan->stream == STREAM_HTTP;

	if (report->id != plan->id)
		return "the answer is to another request";
	if (report->head_hash != plan->head_hash)
		return "the head arrived changed";
	if (report->body_length != (has_body ? plan->body_length : 0))
		return "the body arrived with another length";
	if (report->body_hash != (has_body ? plan->body.hash : HASH_EMPTY))
		return "the body arrived changed";
	return NULL;
}

static const char *check_sent_back(const struct plan *plan, const struct response *response,
				   const struct body_reader *content)
{
	const struct ask *ask = &plan->ask;
	uint64_t size = response->kind == BODY_NONE || ask->kind == BODY_NONE ? 0 : ask->size;

	if (response->status != plan->status)
		return "the answer has another status than asked for";
	if (plan->early != ask->early)
		return "another number of 103 answers than asked for";
	if (content->length != size)
		return "the answer's body has another length than asked for";
	if (content->hash != payload_hash(talk_answer_seed(plan->id), size))
		return "the answer's body arrived changed";
	return NULL;
}

static bool hex_run(const char *text, int from, int to)
{
	for (int i = from; i < to; i++) {
		if (!strchr("0123456789abcdef", text[i]))
			return false;
	}
	return true;
}

static bool well_formed(const char *value)
{
	return strlen(value) == 55 && !memcmp(value, "00-", 3) && value[35] == '-' &&
	       value[52] == '-' && hex_run(value, 3, 35) && hex_run(value, 36, 52) &&
	       hex_run(value, 53, 55);
}

/* Of the trace id half of the bits decide: among millions two alike are next to impossible. */
static const char *check_value(const char *value, struct seen *seen)
{
	unsigned long long high, low, span;

	if (!well_formed(value))
		return "the injected traceparent is malformed";
	if (sscanf(value, "00-%16llx%16llx-%16llx", &high, &low, &span) != 3)
		return "the injected traceparent cannot be read";
	if (!(high | low) || !span)
		return "the injected traceparent has an id of zeros";
	low ^= high * 0x9e3779b97f4a7c15ull;
	if (!ids_add(&seen->traces, low | 1) || !ids_add(&seen->spans, span))
		return "the injected traceparent repeats an id of another request";
	return NULL;
}

static enum verdict judge(const char *why, enum verdict verdict, const char **ret_why)
{
	*ret_why = why;
	return why ? verdict : VERDICT_OK;
}

static enum verdict check_own(const struct plan *plan, const struct report *report,
			      const char **ret_why)
{
	if (report->count > 1)
		return judge("a second traceparent beside its own", VERDICT_DOUBLE, ret_why);
	if (!report->count)
		return judge("its own traceparent did not arrive", VERDICT_MISSING, ret_why);
	if (report->line_hash != plan->line_hash)
		return judge("its own traceparent arrived changed", VERDICT_CORRUPT, ret_why);
	return VERDICT_OK;
}

static enum verdict check_absent(enum expect expect, const char **ret_why)
{
	if (expect == EXPECT_ONE)
		return judge("no traceparent was added", VERDICT_MISSING, ret_why);
	return expect == EXPECT_AT_MOST ? VERDICT_SKIPPED : VERDICT_OK;
}

/* A rule says what becomes of a request's own header. */
static enum verdict check_changed(const struct plan *plan, const struct report *report,
				  enum expect expect, struct seen *seen, const char **ret_why)
{
	if (expect == EXPECT_STRIP)
		return judge(report->count ? "a traceparent that was to be stripped" : NULL,
			     VERDICT_DOUBLE, ret_why);
	if (report->count != 1)
		return judge("not exactly one traceparent", VERDICT_DOUBLE, ret_why);
	if (plan->own && report->line_hash == plan->line_hash)
		return judge("its own traceparent was not restarted", VERDICT_CORRUPT, ret_why);
	return judge(check_value(report->value, seen), VERDICT_CORRUPT, ret_why);
}

static enum verdict check_headers(const struct plan *plan, const struct report *report,
				  enum expect expect, struct seen *seen, const char **ret_why)
{
	if ((expect == EXPECT_STRIP || expect == EXPECT_RESTART) &&
	    (plan->own || plan_is_eligible(plan)))
		return check_changed(plan, report, expect, seen, ret_why);
	if (plan->own)
		return check_own(plan, report, ret_why);
	if (!report->count)
		return plan_is_eligible(plan) ? check_absent(expect, ret_why) : VERDICT_OK;
	if (expect == EXPECT_NONE || plan->stream == STREAM_RAW)
		return judge("a traceparent where none may be", VERDICT_DOUBLE, ret_why);
	if (report->count > 1)
		return judge("several traceparents were added", VERDICT_DOUBLE, ret_why);
	return judge(check_value(report->value, seen), VERDICT_CORRUPT, ret_why);
}

enum verdict check_answer(const struct plan *plan, const struct response *response,
			  const struct body_reader *content, const struct settings *settings,
			  struct seen *seen, const char **ret_why)
{
	const char *why = check_received(plan, &response->report);

	if (!why)
		why = check_sent_back(plan, response, content);
	if (why)
		return judge(why, VERDICT_CORRUPT, ret_why);
	return check_headers(plan, &response->report, settings->expect, seen, ret_why);
}

enum verdict check_tunnel(const struct plan *plan, const uint8_t *line, const char **ret_why)
{
	uint64_t length, hash;

	if (tunnel_reply_read(line, &length, &hash))
		return judge("the reply in the tunnel is damaged", VERDICT_CORRUPT, ret_why);
	if (length != plan->body_length || hash != plan->body.hash)
		return judge("the bytes in the tunnel arrived changed", VERDICT_CORRUPT, ret_why);
	return VERDICT_OK;
}
