// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/foreign.h"
#include "trace/json.h"
#include "trace/span.h"

void json_set_text(json_t *object, const char *name, const char *text)
{
	_cleanup_free_ char *repaired = text ? foreign_dup(text) : NULL;

	if (repaired)
		json_object_set_new(object, name, json_string(repaired));
}

static void set_known(json_t *object, const char *name, __s64 number)
{
	if (number)
		json_object_set_new(object, name, json_integer(number));
}

static json_t *span_json(const struct query_span *span)
{
	json_t *object = json_object();

	json_set_text(object, "span_id", span->span_id);
	json_set_text(object, "parent_id", span->parent_id[0] ? span->parent_id : NULL);
	json_set_text(object, "kind", span_kind_name(span->kind));
	json_set_text(object, "service", span->service);
	json_set_text(object, "container", span->container);
	json_set_text(object, "method", span->method);
	json_set_text(object, "path", span->path);
	json_set_text(object, "route", span->route);
	json_set_text(object, "host", span->host);
	json_set_text(object, "user_agent", span->agent);
	set_known(object, "status", span->status);
	json_set_text(object, "outcome", span->outcome);
	json_object_set_new(object, "error", json_boolean(span->error));
	json_object_set_new(object, "start_ns", json_integer(span->start_ns));
	json_object_set_new(object, "duration_ns", json_integer(span->duration_ns));
	set_known(object, "first_byte_ns", span->first_byte_ns);
	json_set_text(object, "local", span->local);
	json_set_text(object, "remote", span->remote);
	set_known(object, "pid", span->pid);
	set_known(object, "tid", span->tid);
	set_known(object, "request_bytes", span->request_bytes);
	set_known(object, "response_bytes", span->response_bytes);
	json_object_set_new(object, "reused", json_boolean(span->reused));
	json_object_set_new(object, "forwarded", json_boolean(span->forwarded));
	json_set_text(object, "header", span->header);
	json_set_text(object, "evidence", span->evidence);
	json_set_text(object, "veto", span->veto);
	return object;
}

json_t *trace_json(const struct query_trace *trace)
{
	json_t *object = json_object(), *spans = json_array();

	for (size_t i = 0; i < trace->count; i++)
		json_array_append_new(spans, span_json(&trace->span[i]));
	json_set_text(object, "trace_id", trace->id);
	json_object_set_new(object, "spans", spans);
	set_known(object, "left_out", (__s64)trace->left_out);
	return object;
}
