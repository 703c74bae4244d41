// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>

#include "otlp/host.h"
#include "otlp/span_message.h"

#define HAS_IS_REMOTE                                                                              \
	OPENTELEMETRY__PROTO__TRACE__V1__SPAN_FLAGS__SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
#define IS_REMOTE OPENTELEMETRY__PROTO__TRACE__V1__SPAN_FLAGS__SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK
#define ERROR     OPENTELEMETRY__PROTO__TRACE__V1__STATUS__STATUS_CODE__STATUS_CODE_ERROR

/* Methods that the conventions know (RFC 9110, RFC 5789); all others are _OTHER. */
static bool is_known_method(const char *method)
{
	static const char *const known[] = {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS",
					    "PATCH",   "POST",   "PUT", "TRACE"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(method, known[i]))
			return true;
	return false;
}

static void set_ids(otlp_span *message, const struct span *span)
{
	bool remote = span->kind == SPAN_SERVER && span->parent_id;

	message->trace_id =
	    (ProtobufCBinaryData){sizeof(span->trace_id), (uint8_t *)span->trace_id};
	message->span_id = (ProtobufCBinaryData){sizeof(span->span_id), (uint8_t *)&span->span_id};
	if (span->parent_id)
		message->parent_span_id =
		    (ProtobufCBinaryData){sizeof(span->parent_id), (uint8_t *)&span->parent_id};
	message->flags = span->trace_flags | HAS_IS_REMOTE | (remote ? IS_REMOTE : 0);
}

/* "GET /items/{id}" for what is served, "GET" for calls: names are few. */
static void set_name(struct span_message *message, const struct span *span)
{
	const char *method = is_known_method(span->method) ? span->method : "HTTP";
	bool has_route = span->kind == SPAN_SERVER && *span->route;

	snprintf(message->name, sizeof(message->name), "%s%s%s", method, has_route ? " " : "",
		 has_route ? span->route : "");
	message->span.name = message->name;
}

static void add_request(struct span_message *message, const struct span *span)
{
	struct otlp_attributes *to = &message->attributes;
	bool known = is_known_method(span->method);

	otlp_attributes_text(to, "http.request.method", known ? span->method : "_OTHER");
	if (!known)
		otlp_attributes_text(to, "http.request.method_original", span->method);
	otlp_attributes_text(to, "url.scheme", "http");
	otlp_attributes_text(to, "url.path", span->path);
	if (span->kind == SPAN_SERVER)
		otlp_attributes_text(to, "http.route", span->route);
	otlp_attributes_text(to, "user_agent.original", span->agent);
	/* These have heads in them, so they are not http.request.body.size. */
	otlp_attributes_number(to, "http.request.size", span->request_size);
	otlp_attributes_number(to, "http.response.size", span->response_size);
}

/* What went wrong: the status, or how the connection ended. NULL: nothing. */
static const char *error_type(const struct span *span, char status[static 16])
{
	if (!span_is_error(span))
		return NULL;
	if (span->outcome != RECORD_ANSWERED && span->outcome != RECORD_CLIENT_CLOSED)
		return span_outcome_name(span->outcome);
	snprintf(status, 16, "%u", span->status);
	return status;
}

static void add_result(struct span_message *message, const struct span *span)
{
	const char *error = error_type(span, message->status_text);

	otlp_attributes_number(&message->attributes, "http.response.status_code", span->status);
	otlp_attributes_text(&message->attributes, "error.type", error);
	if (!error)
		return;
	opentelemetry__proto__trace__v1__status__init(&message->status);
	message->status.code = ERROR;
	message->span.status = &message->status;
}

/* Where the request was meant to go; what the Host field does not tell the connection does. */
static void add_server(struct span_message *message, const struct span *span)
{
	bool served = span->kind == SPAN_SERVER;
	unsigned int port = ntohs(served ? span->local_port : span->remote_port);
	const char *address = message->server;

	if (host_split(span->host, message->server, sizeof(message->server), &port))
		address = served ? message->local : message->remote;
	otlp_attributes_text(&message->attributes, "server.address", address);
	otlp_attributes_number(&message->attributes, "server.port", port);
}

/* Of calls, without the query, which may have private data. */
static void add_url(struct span_message *message, const struct span *span)
{
	if (span->kind != SPAN_CLIENT || !*span->host || *span->path != '/')
		return;
	snprintf(message->url, sizeof(message->url), "http://%s%s", span->host, span->path);
	otlp_attributes_text(&message->attributes, "url.full", message->url);
}

static void add_ends(struct span_message *message, const struct span *span)
{
	struct otlp_attributes *to = &message->attributes;

	address_text(message->local, span->local);
	address_text(message->remote, span->remote);
	add_server(message, span);
	if (span->kind == SPAN_SERVER) {
		otlp_attributes_text(to, "client.address", message->remote);
		otlp_attributes_number(to, "client.port", ntohs(span->remote_port));
	}
	otlp_attributes_text(to, "network.peer.address", message->remote);
	otlp_attributes_number(to, "network.peer.port", ntohs(span->remote_port));
	otlp_attributes_text(to, "network.local.address", message->local);
	otlp_attributes_number(to, "network.local.port", ntohs(span->local_port));
	otlp_attributes_number(to, "process.pid", span->tgid);
}

static void add_cause(struct span_message *message, const struct span *span)
{
	struct span_cause cause = span_cause(span);

	otlp_attributes_text(&message->attributes, "ctxprop.header", cause.header);
	otlp_attributes_text(&message->attributes, "ctxprop.evidence", cause.evidence);
	otlp_attributes_text(&message->attributes, "ctxprop.veto", cause.veto);
}

void span_message_fill(struct span_message *ret_message, const struct span *span,
		       __s64 boot_to_wall_ns)
{
	otlp_span *to = &ret_message->span;

	opentelemetry__proto__trace__v1__span__init(to);
	ret_message->attributes.count = 0;
	set_ids(to, span);
	set_name(ret_message, span);
	/* The two numberings are one (enum span_kind). */
	to->kind = (Opentelemetry__Proto__Trace__V1__Span__SpanKind)span->kind;
	to->start_time_unix_nano = span->start_ns + (__u64)boot_to_wall_ns;
	to->end_time_unix_nano = span->end_ns + (__u64)boot_to_wall_ns;
	add_request(ret_message, span);
	add_result(ret_message, span);
	add_url(ret_message, span);
	add_ends(ret_message, span);
	add_cause(ret_message, span);
	to->n_attributes = ret_message->attributes.count;
	to->attributes = ret_message->attributes.list;
}
