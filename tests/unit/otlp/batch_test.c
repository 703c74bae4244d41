// SPDX-License-Identifier: Apache-2.0
/* Spans as messages of OTLP: what a receiver reads of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include "base/version.h"
#include "otlp/batch.h"
#include "otlp/messages.h"
#include "reasons.h"

#define MAX        8
#define WALL_NS    1700000000000000000LL
#define REMOTE_BIT 0x200
#define KNOWN_BIT  0x100

static const char trace_id[] = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";

static struct span span_of(enum span_kind kind)
{
	struct span span = {.kind = kind,
			    .span_id = 0x1122334455667788,
			    .parent_id = 0x99aabbccddeeff00,
			    .trace_flags = 3,
			    .outcome = RECORD_ANSWERED,
			    .status = 200,
			    .start_ns = 1000,
			    .end_ns = 3500,
			    .request_size = 100,
			    .response_size = 4000000000,
			    .tgid = 42,
			    .local_port = htons(8080),
			    .remote_port = htons(40000),
			    .local = {[10] = 0xff, 0xff, 10, 0, 0, 1},
			    .remote = {0xfd, [15] = 2},
			    .service = {.name = "shop"},
			    .method = "GET",
			    .path = "/items/7",
			    .route = "/items/{id}",
			    .host = "example.com:8000",
			    .agent = "curl/8"};

	memcpy(span.trace_id, trace_id, sizeof(span.trace_id));
	return span;
}

/* The message of some spans, as its receiver reads it. To be freed by free_request(). */
static otlp_request *send_all(const struct span *span, size_t count)
{
	struct batch *batch = batch_new(MAX, "node-1");
	otlp_request *request;
	__u8 *bytes;
	size_t size;

	for (size_t i = 0; i < count; i++)
		batch_items(batch)[i] =
		    (struct queue_item){.span = span[i], .boot_to_wall_ns = WALL_NS};
	assert_int_equal(batch_pack(batch, count, &bytes, &size), 0);
	request = opentelemetry__proto__collector__trace__v1__export_trace_service_request__unpack(
	    NULL, size, bytes);
	assert_non_null(request);
	free(bytes);
	batch_free(batch);
	return request;
}

static void free_request(otlp_request *request)
{
	opentelemetry__proto__collector__trace__v1__export_trace_service_request__free_unpacked(
	    request, NULL);
}

/* A value as text; "" if there is none of this name. */
static const char *value_of(otlp_attribute **list, size_t count, const char *key)
{
	static char number[24];
	const otlp_value *value = NULL;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i]->key, key) != 0)
			continue;
		assert_null(value); /* keys are unique */
		value = list[i]->value;
	}
	if (!value)
		return "";
	if (value->value_case == OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE)
		return value->string_value;
	snprintf(number, sizeof(number), "%lld", (long long)value->int_value);
	return number;
}

static otlp_span *only_span(const otlp_request *request)
{
	assert_int_equal(request->n_resource_spans, 1);
	assert_int_equal(request->resource_spans[0]->n_scope_spans, 1);
	assert_int_equal(request->resource_spans[0]->scope_spans[0]->n_spans, 1);
	return request->resource_spans[0]->scope_spans[0]->spans[0];
}

struct expected {
	const char *key, *value; /* "": there is none */
};

static void check_attributes(const otlp_span *span, const struct expected *expected)
{
	for (; expected->key; expected++) {
		const char *value = value_of(span->attributes, span->n_attributes, expected->key);

		if (strcmp(value, expected->value) != 0)
			fail_msg("%s: '%s', not '%s'", expected->key, value, expected->value);
	}
}

/* Send one span; look at its name and attributes. */
static void check_span(const struct span *span, const char *name, const struct expected *expected)
{
	otlp_request *request = send_all(span, 1);

	assert_string_equal(only_span(request)->name, name);
	check_attributes(only_span(request), expected);
	free_request(request);
}

static void served(void **state)
{
	static const struct expected expected[] = {{"http.request.method", "GET"},
						   {"http.request.method_original", ""},
						   {"url.scheme", "http"},
						   {"url.path", "/items/7"},
						   {"url.full", ""},
						   {"http.route", "/items/{id}"},
						   {"http.response.status_code", "200"},
						   {"error.type", ""},
						   {"user_agent.original", "curl/8"},
						   {"http.request.size", "100"},
						   {"http.response.size", "4000000000"},
						   {"server.address", "example.com"},
						   {"server.port", "8000"},
						   {"client.address", "fd00::2"},
						   {"client.port", "40000"},
						   {"network.peer.address", "fd00::2"},
						   {"network.peer.port", "40000"},
						   {"network.local.address", "10.0.0.1"},
						   {"network.local.port", "8080"},
						   {"process.pid", "42"},
						   {"ctxprop.header", ""},
						   {"ctxprop.evidence", ""},
						   {}};
	struct span span = span_of(SPAN_SERVER);

	(void)state;
	check_span(&span, "GET /items/{id}", expected);
}

static void called(void **state)
{
	static const struct expected expected[] = {{"url.full", "http://example.com:8000/items/7"},
						   {"http.route", ""},
						   {"client.address", ""},
						   {"server.address", "example.com"},
						   {"ctxprop.header", "injected"},
						   {"ctxprop.evidence", "by-thread"},
						   {"ctxprop.veto", ""},
						   {}};
	static const struct expected refused[] = {
	    {"ctxprop.evidence", "by-none"}, {"ctxprop.veto", "veto-other-idle-loop"}, {}};
	struct span span = span_of(SPAN_CLIENT);

	(void)state;
	span.reason = REASON_INJECTED;
	span.evidence = EVIDENCE_THREAD;
	check_span(&span, "GET", expected);
	span.evidence = EVIDENCE_NONE;
	span.veto = VETO_IDLE_LOOP;
	check_span(&span, "GET", refused);
}

static void little_known(void **state)
{
	static const struct expected expected[] = {{"http.request.method", "_OTHER"},
						   {"http.request.method_original", ""},
						   {"url.path", ""},
						   {"http.response.status_code", ""},
						   {"server.address", "10.0.0.1"},
						   {"server.port", "8080"},
						   {"user_agent.original", ""},
						   {"process.pid", ""},
						   {"http.request.size", ""},
						   {}};
	struct span span = span_of(SPAN_SERVER);

	(void)state;
	span.status = span.tgid = span.request_size = 0;
	*span.method = *span.path = *span.route = *span.host = *span.agent = '\0';
	check_span(&span, "HTTP", expected);
}

static void unknown_methods(void **state)
{
	static const struct expected expected[] = {
	    {"http.request.method", "_OTHER"}, {"http.request.method_original", "get"}, {}};
	struct span span = span_of(SPAN_SERVER);

	(void)state;
	strcpy(span.method, "get");
	check_span(&span, "HTTP /items/{id}", expected);
}

static void check_error(struct span *span, const char *type)
{
	otlp_request *request = send_all(span, 1);
	const otlp_span *got = only_span(request);
	const struct expected expected[] = {{"error.type", type}, {}};

	check_attributes(got, expected);
	if (*type)
		assert_int_equal(got->status->code, 2);
	else
		assert_null(got->status);
	free_request(request);
}

static void errors(void **state)
{
	struct span server = span_of(SPAN_SERVER), client = span_of(SPAN_CLIENT);

	(void)state;
	check_error(&server, "");
	server.status = client.status = 404;
	check_error(&server, "");
	check_error(&client, "404");
	server.status = 503;
	check_error(&server, "503");
	client.status = 0;
	client.outcome = RECORD_RESET;
	check_error(&client, "reset");
	client.outcome = RECORD_CLOSED;
	check_error(&client, "closed");
}

static void ids_and_times(void **state)
{
	struct span span = span_of(SPAN_SERVER);
	otlp_request *request = send_all(&span, 1);
	const otlp_span *got = only_span(request);

	(void)state;
	assert_int_equal(got->trace_id.len, 16);
	assert_memory_equal(got->trace_id.data, trace_id, 16);
	assert_int_equal(got->span_id.len, 8);
	assert_memory_equal(got->span_id.data, &span.span_id, 8);
	assert_int_equal(got->parent_span_id.len, 8);
	assert_memory_equal(got->parent_span_id.data, &span.parent_id, 8);
	assert_int_equal(got->kind, 2);
	assert_int_equal(got->flags, 3 | KNOWN_BIT | REMOTE_BIT);
	assert_int_equal(got->start_time_unix_nano, WALL_NS + 1000);
	assert_int_equal(got->end_time_unix_nano, WALL_NS + 3500);
	free_request(request);

	/* Without a parent there is no such field at all; a call's parent is in the same process.
	 */
	span.kind = SPAN_CLIENT;
	span.parent_id = 0;
	request = send_all(&span, 1);
	assert_int_equal(only_span(request)->parent_span_id.len, 0);
	assert_int_equal(only_span(request)->kind, 3);
	assert_int_equal(only_span(request)->flags, 3 | KNOWN_BIT);
	free_request(request);
}

static void check_resource(const otlp_resource_spans *spans, const char *name,
			   const char *container, size_t count)
{
	otlp_attribute **list = spans->resource->attributes;
	size_t length = spans->resource->n_attributes;

	assert_string_equal(value_of(list, length, "service.name"), name);
	assert_string_equal(value_of(list, length, "container.id"), container);
	assert_string_equal(value_of(list, length, "host.name"), "node-1");
	assert_string_equal(value_of(list, length, "telemetry.sdk.name"), "ctxprop");
	assert_string_equal(value_of(list, length, "telemetry.sdk.version"), CTXPROP_VERSION);
	assert_int_equal(spans->n_scope_spans, 1);
	assert_string_equal(spans->scope_spans[0]->scope->name, "ctxprop");
	assert_int_equal(spans->scope_spans[0]->n_spans, count);
}

/* What else is known of a service: as it is. */
static void check_known(const otlp_resource *resource)
{
	assert_string_equal(value_of(resource->attributes, resource->n_attributes, "k8s.pod.uid"),
			    "1-2");
	assert_string_equal(value_of(resource->attributes, resource->n_attributes, "x.y"), "a=b");
}

static void one_resource_for_each_service(void **state)
{
	static const char *const names[] = {"shop", "", "shop", "shop", "", "shop"};
	struct span span[6];
	otlp_request *request;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		span[i] = span_of(SPAN_SERVER);
		span[i].span_id = i + 1;
		strcpy(span[i].service.name, names[i]);
	}
	strcpy(span[3].service.container, "c0ffee");
	strcpy(span[3].service.attributes, "k8s.pod.uid=1-2\nx.y=a=b\n");
	request = send_all(span, 6);
	assert_int_equal(request->n_resource_spans, 3);
	check_resource(request->resource_spans[0], "shop", "", 3);
	check_resource(request->resource_spans[1], "unknown_service", "", 2);
	check_resource(request->resource_spans[2], "shop", "c0ffee", 1);
	check_known(request->resource_spans[2]->resource);
	/* In the order in which they came. */
	assert_int_equal(request->resource_spans[0]->scope_spans[0]->spans[2]->span_id.data[0], 6);
	free_request(request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(served),
	    cmocka_unit_test(called),
	    cmocka_unit_test(little_known),
	    cmocka_unit_test(unknown_methods),
	    cmocka_unit_test(errors),
	    cmocka_unit_test(ids_and_times),
	    cmocka_unit_test(one_resource_for_each_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
