// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/number.h"
#include "trace/json.h"
#include "trace/query_limits.h"
#include "trace/query_summary.h"
#include "trace/query_words.h"
#include "trace/span.h"
#include "web/api.h"
#include "web/api_store.h"

#define LIMIT     50
#define LIMIT_MAX 500
#define ID_DIGITS 32

/* A page of the list. */
struct page {
	json_t *traces;
	__s64 last_row; /* where the last one stands */
};

/* A parameter that was understood, or a complaint. */
static int refuse(struct reply *reply, const char *name, const char *wanted)
{
	api_refuse(reply, 400, "%s: expected %s", name, wanted);
	return -EINVAL;
}

static int read_numbers(const struct request *request, struct query_filter *filter,
			struct reply *reply)
{
	const char *limit = request_parameter(request, "limit");
	const char *cursor = request_parameter(request, "cursor");
	unsigned long number = LIMIT;

	if (limit && number_parse(limit, 1, LIMIT_MAX, &number))
		return refuse(reply, "limit", "a number from 1 to 500");
	filter->count = (unsigned int)number;
	number = 0;
	if (cursor && number_parse(cursor, 1, LONG_MAX, &number))
		return refuse(reply, "cursor", "what `next` was");
	filter->before_row = (__s64)number;
	return 0;
}

static int read_words(const struct request *request, struct query_filter *filter,
		      struct reply *reply)
{
	const char *slow = request_parameter(request, "slow");
	const char *status = request_parameter(request, "status");
	const char *kind = request_parameter(request, "kind");
	const char *order = request_parameter(request, "order");

	if (slow && query_parse_time(slow, &filter->slow_ns))
		return refuse(reply, "slow", "a time: 100ms, 1.5s");
	if (status && query_parse_status(status, filter))
		return refuse(reply, "status", "a status (503) or a class of them (5xx)");
	if (kind && !strcmp(kind, span_kind_name(SPAN_SERVER)))
		filter->kind = SPAN_SERVER;
	else if (kind && !strcmp(kind, span_kind_name(SPAN_CLIENT)))
		filter->kind = SPAN_CLIENT;
	else if (kind)
		return refuse(reply, "kind", "server or client");
	filter->slowest = order && !strcmp(order, "slowest");
	if (order && !filter->slowest && strcmp(order, "newest") != 0)
		return refuse(reply, "order", "newest or slowest");
	return 0;
}

static int read_pattern(const struct request *request, struct query_filter *filter,
			struct reply *reply)
{
	const char *pattern = request_parameter(request, "endpoint");

	if (pattern && strlen(pattern) > QUERY_PATTERN_MAX)
		return refuse(reply, "endpoint", "a pattern of up to 200 bytes");
	filter->endpoint = pattern;
	return 0;
}

/* 0, or -EINVAL after the reply was made. */
static int read_filter(const struct request *request, struct query_filter *filter,
		       struct reply *reply)
{
	const char *errors = request_parameter(request, "errors");
	__u64 last_ns;

	filter->service = request_parameter(request, "service");
	filter->route = request_parameter(request, "route");
	filter->method = request_parameter(request, "method");
	filter->errors = errors && strcmp(errors, "0") != 0;
	if (read_pattern(request, filter, reply) || read_numbers(request, filter, reply) ||
	    read_words(request, filter, reply) || api_last(request, reply, 0, &last_ns))
		return -EINVAL;
	filter->since_ns = last_ns ? query_now_ns() - (__s64)last_ns : 0;
	return 0;
}

/* What a list tells of the span that a trace begins with. */
static json_t *first_json(const struct query_span *span)
{
	json_t *object = json_object();

	json_set_text(object, "service", span->service);
	json_set_text(object, "kind", span_kind_name(span->kind));
	json_set_text(object, "method", span->method);
	json_set_text(object, "path", span->path);
	json_set_text(object, "host", span->host);
	json_set_text(object, "remote", span->remote);
	if (span->status)
		json_object_set_new(object, "status", json_integer(span->status));
	return object;
}

static json_t *summary_json(const struct query_summary *summary)
{
	json_t *object = json_object();

	json_set_text(object, "trace_id", summary->id);
	json_object_set_new(object, "start_ns", json_integer(summary->start_ns));
	json_object_set_new(object, "duration_ns", json_integer(summary->duration_ns));
	json_object_set_new(object, "spans", json_integer((json_int_t)summary->spans));
	json_object_set_new(object, "services", json_integer((json_int_t)summary->services));
	json_object_set_new(object, "errors", json_integer((json_int_t)summary->errors));
	if (summary->is_partial)
		json_object_set_new(object, "partial", json_true());
	json_object_set_new(object, "first", first_json(&summary->first));
	return object;
}

/* They come the last one first. */
static int add_summary(const struct query_summary *summary, void *data)
{
	struct page *page = data;

	if (!json_array_size(page->traces))
		page->last_row = summary->row;
	return json_array_insert_new(page->traces, 0, summary_json(summary)) ? -ENOMEM : 0;
}

void api_traces(const struct web_options *options, struct request *request, struct reply *reply)
{
	struct page page = {.traces = json_array()};
	struct query_filter filter = {};
	json_t *document = json_pack("{so}", "traces", page.traces);
	sqlite3 *db = NULL;

	if (!read_filter(request, &filter, reply))
		db = api_open(options, reply);
	if (!db) {
		json_decref(document);
		return;
	}
	if (query_summaries(db, &filter, add_summary, &page)) {
		json_decref(document);
		api_failed(reply, db);
	} else {
		if (json_array_size(page.traces) == filter.count && !filter.slowest)
			json_object_set_new(document, "next",
					    json_sprintf("%lld", (long long)page.last_row));
		api_reply(reply, document);
	}
	api_close(db);
}

static int keep_trace(const struct query_trace *trace, void *data)
{
	*(json_t **)data = trace_json(trace);
	return 0;
}

void api_trace(const struct web_options *options, struct request *request, struct reply *reply)
{
	struct query_filter filter = {.trace = request->rest, .count = 1};
	json_t *document = NULL;
	sqlite3 *db;

	if (strlen(request->rest) != ID_DIGITS ||
	    strspn(request->rest, "0123456789abcdef") != ID_DIGITS) {
		api_refuse(reply, 400, "a trace id has 32 lowercase hex digits");
		return;
	}
	db = api_open(options, reply);
	if (!db)
		return;
	if (query_traces(db, &filter, keep_trace, &document))
		api_failed(reply, db);
	else if (document)
		api_reply(reply, document);
	else
		api_refuse(reply, 404, "there is no such trace, or no longer");
	api_close(db);
}
