// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/version.h"
#include "otlp/attributes.h"
#include "otlp/batch.h"
#include "otlp/messages.h"
#include "otlp/span_message.h"

#define HOST_MAX 256

/* What belongs to one service. Not to be moved. */
struct group {
	const struct service *service;
	size_t first, count; /* of its spans in the order of groups */
	size_t filled;
	otlp_resource_spans spans;
	otlp_resource resource;
	char texts[ATTRIBUTES_MAX]; /* of what is known of the service */
	struct otlp_attributes attributes;
	otlp_scope scope;
	otlp_scope_spans scope_spans;
	otlp_scope_spans *scope_list[1];
};

/* A span and the number of its group. */
struct member {
	size_t group;
	struct span_message message;
};

struct batch {
	size_t max;
	char host[HOST_MAX];
	struct queue_item *item;
	struct member *member;
	otlp_span **span; /* by groups */
};

struct batch *batch_new(size_t max, const char *host)
{
	struct batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	batch->max = max;
	text_copy(batch->host, sizeof(batch->host), host);
	batch->item = calloc(max, sizeof(batch->item[0]));
	batch->member = calloc(max, sizeof(batch->member[0]));
	batch->span = calloc(max, sizeof(otlp_span *));
	if (batch->item && batch->member && batch->span)
		return batch;
	batch_free(batch);
	return NULL;
}

void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	free(batch->item);
	free(batch->member);
	free(batch->span);
	free(batch);
}

struct queue_item *batch_items(struct batch *batch)
{
	return batch->item;
}

/* Number the groups. Returns how many there are; `ret_first` gets the first span of each. */
static size_t number_groups(struct batch *batch, size_t count, size_t *ret_first)
{
	size_t groups = 0, group;

	for (size_t i = 0; i < count; i++) {
		const struct service *service = &batch->item[i].span.service;

		for (group = 0; group < groups; group++)
			if (service_is_same(service, &batch->item[ret_first[group]].span.service))
				break;
		if (group == groups)
			ret_first[groups++] = i;
		batch->member[i].group = group;
	}
	return groups;
}

/* Keys and values as texts of their own. */
static void add_known(struct group *group)
{
	const char *at = group->service->attributes;
	struct attribute known;
	char *end = group->texts, *key;

	while (attributes_next(&at, &known)) {
		key = end;
		memcpy(end, known.key, known.key_length);
		end += known.key_length;
		*end++ = '\0';
		memcpy(end, known.value, known.value_length);
		end[known.value_length] = '\0';
		otlp_attributes_text(&group->attributes, key, end);
		end += known.value_length + 1;
	}
}

static void fill_resource(struct group *group, const char *host)
{
	struct otlp_attributes *to = &group->attributes;

	opentelemetry__proto__resource__v1__resource__init(&group->resource);
	/* The conventions want a name, and this one where there is none. */
	otlp_attributes_text(to, "service.name",
			     *group->service->name ? group->service->name : "unknown_service");
	otlp_attributes_text(to, "container.id", group->service->container);
	otlp_attributes_text(to, "host.name", host);
	otlp_attributes_text(to, "telemetry.sdk.name", "ctxprop");
	otlp_attributes_text(to, "telemetry.sdk.version", CTXPROP_VERSION);
	add_known(group);
	group->resource.n_attributes = to->count;
	group->resource.attributes = to->list;
}

static void fill_group(struct group *group, struct batch *batch)
{
	fill_resource(group, batch->host);
	opentelemetry__proto__common__v1__instrumentation_scope__init(&group->scope);
	group->scope.name = "ctxprop";
	group->scope.version = CTXPROP_VERSION;
	opentelemetry__proto__trace__v1__scope_spans__init(&group->scope_spans);
	group->scope_spans.scope = &group->scope;
	group->scope_spans.n_spans = group->count;
	group->scope_spans.spans = batch->span + group->first;
	group->scope_list[0] = &group->scope_spans;
	opentelemetry__proto__trace__v1__resource_spans__init(&group->spans);
	group->spans.resource = &group->resource;
	group->spans.n_scope_spans = 1;
	group->spans.scope_spans = group->scope_list;
}

/* Spans in the order of their groups, and in each as they came. */
static void fill_groups(struct batch *batch, struct group *group, size_t groups, size_t count,
			const size_t *first)
{
	for (size_t i = 0; i < count; i++)
		group[batch->member[i].group].count++;
	for (size_t i = 0; i < groups; i++) {
		group[i].service = &batch->item[first[i]].span.service;
		group[i].first = i ? group[i - 1].first + group[i - 1].count : 0;
		fill_group(&group[i], batch);
	}
	for (size_t i = 0; i < count; i++) {
		struct member *member = &batch->member[i];
		struct group *of = &group[member->group];

		span_message_fill(&member->message, &batch->item[i].span,
				  batch->item[i].boot_to_wall_ns);
		batch->span[of->first + of->filled++] = &member->message.span;
	}
}

static int pack(struct group *group, size_t groups, __u8 **ret_bytes, size_t *ret_size)
{
	otlp_resource_spans **list = calloc(groups, sizeof(otlp_resource_spans *));
	otlp_request request;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < groups; i++)
		list[i] = &group[i].spans;
	opentelemetry__proto__collector__trace__v1__export_trace_service_request__init(&request);
	request.n_resource_spans = groups;
	request.resource_spans = list;
	*ret_size = protobuf_c_message_get_packed_size(&request.base);
	*ret_bytes = malloc(*ret_size);
	if (*ret_bytes)
		protobuf_c_message_pack(&request.base, *ret_bytes);
	free(list);
	return *ret_bytes ? 0 : -ENOMEM;
}

int batch_pack(struct batch *batch, size_t count, __u8 **ret_bytes, size_t *ret_size)
{
	size_t *first = calloc(batch->max, sizeof(*first));
	struct group *group = NULL;
	size_t groups = 0;
	int err = -ENOMEM;

	if (first)
		groups = number_groups(batch, count, first);
	if (groups)
		group = calloc(groups, sizeof(*group));
	if (group) {
		fill_groups(batch, group, groups, count, first);
		err = pack(group, groups, ret_bytes, ret_size);
	}
	free(group);
	free(first);
	return err;
}
