// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "otlp/attributes.h"
#include "otlp/loss_message.h"
#include "otlp/messages.h"

#define WARN OPENTELEMETRY__PROTO__LOGS__V1__SEVERITY_NUMBER__SEVERITY_NUMBER_WARN
#define TEXT OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE

/* A log record and what it points to. Not to be moved. */
struct record {
	otlp_log_record record;
	otlp_value body;
	struct otlp_attributes attributes;
	char text[LOSSES_NAME_MAX + 64];
};

/* The whole message. Not to be moved. */
struct message {
	struct record record[LOSSES_MAX];
	otlp_log_record *records[LOSSES_MAX];
	otlp_resource resource;
	struct otlp_attributes attributes;
	otlp_scope scope;
	otlp_scope_logs scope_logs;
	otlp_scope_logs *scope_list[1];
	otlp_resource_logs resource_logs;
	otlp_resource_logs *resource_list[1];
	otlp_logs_request request;
};

static void fill_record(struct record *to, const struct loss *loss, __u64 wall_ns)
{
	unsigned long count = loss->count - loss->told;

	opentelemetry__proto__logs__v1__log_record__init(&to->record);
	opentelemetry__proto__common__v1__any_value__init(&to->body);
	snprintf(to->text, sizeof(to->text), "lost since the last such record: %lu (%s)", count,
		 loss->reason);
	to->body.value_case = TEXT;
	to->body.string_value = to->text;
	to->record.time_unix_nano = to->record.observed_time_unix_nano = wall_ns;
	to->record.severity_number = WARN;
	to->record.severity_text = "WARN";
	to->record.body = &to->body;
	otlp_attributes_text(&to->attributes, "ctxprop.reason", loss->reason);
	otlp_attributes_number(&to->attributes, "ctxprop.count", (__s64)count);
	to->record.n_attributes = to->attributes.count;
	to->record.attributes = to->attributes.list;
}

static void fill_resource(struct message *message, const char *host)
{
	opentelemetry__proto__resource__v1__resource__init(&message->resource);
	otlp_attributes_text(&message->attributes, "service.name", "ctxpropd");
	otlp_attributes_text(&message->attributes, "service.version", CTXPROP_VERSION);
	otlp_attributes_text(&message->attributes, "host.name", host);
	message->resource.n_attributes = message->attributes.count;
	message->resource.attributes = message->attributes.list;
}

static void fill_rest(struct message *message, size_t count)
{
	opentelemetry__proto__common__v1__instrumentation_scope__init(&message->scope);
	message->scope.name = "ctxprop";
	message->scope.version = CTXPROP_VERSION;
	opentelemetry__proto__logs__v1__scope_logs__init(&message->scope_logs);
	message->scope_logs.scope = &message->scope;
	message->scope_logs.n_log_records = count;
	message->scope_logs.log_records = message->records;
	message->scope_list[0] = &message->scope_logs;
	opentelemetry__proto__logs__v1__resource_logs__init(&message->resource_logs);
	message->resource_logs.resource = &message->resource;
	message->resource_logs.n_scope_logs = 1;
	message->resource_logs.scope_logs = message->scope_list;
	message->resource_list[0] = &message->resource_logs;
	opentelemetry__proto__collector__logs__v1__export_logs_service_request__init(
	    &message->request);
	message->request.n_resource_logs = 1;
	message->request.resource_logs = message->resource_list;
}

int loss_message_pack(struct loss *const *loss, size_t count, const char *host, __u64 wall_ns,
		      __u8 **ret_bytes, size_t *ret_size)
{
	struct message *message = calloc(1, sizeof(*message));

	if (!message)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		fill_record(&message->record[i], loss[i], wall_ns);
		message->records[i] = &message->record[i].record;
	}
	fill_resource(message, host);
	fill_rest(message, count);
	*ret_size = protobuf_c_message_get_packed_size(&message->request.base);
	*ret_bytes = malloc(*ret_size);
	if (*ret_bytes)
		protobuf_c_message_pack(&message->request.base, *ret_bytes);
	free(message);
	return *ret_bytes ? 0 : -ENOMEM;
}
