// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "inspect/confined.h"
#include "inspect/sandbox.h"
#include "process_context.pb-c.h"
#include "profile/take/process_context.h"

#define SIGNATURE "OTEL_CTX"
#define VERSION   2

typedef Ctxprop__ProcessContext__ProcessContext Message;
typedef Ctxprop__ProcessContext__KeyValue KeyValue;
typedef Ctxprop__ProcessContext__Value Value;
typedef Ctxprop__ProcessContext__Texts Texts;

/* What stands at the beginning of the mapping. */
struct header {
	char signature[8];
	__u32 version, size;
	__u64 published_ns; /* 0: it is being written */
	__u64 payload;
};

/* A payload, and what is found in it by the sandbox. */
struct order {
	struct process_context context;
	size_t size;
	__u8 bytes[PROCESS_CONTEXT_BYTES];
};

bool process_context_is(const char *mapping)
{
	return !strcmp(mapping, "[anon_shmem:OTEL_CTX]") || !strcmp(mapping, "[anon:OTEL_CTX]") ||
	       !strncmp(mapping, "/memfd:OTEL_CTX", strlen("/memfd:OTEL_CTX"));
}

static bool is_understood(const char *schema)
{
	return !strcmp(schema, "tlsdesc_v1_dev") || !strcmp(schema, "tls_v1");
}

static void take_keys(const Texts *texts, struct process_context *context)
{
	for (size_t i = 0; i < texts->n_values && i < PROCESS_CONTEXT_KEYS; i++)
		text_copy(context->key[i], sizeof(context->key[i]), texts->values[i]->string_value);
}

static void take_attribute(const KeyValue *attribute, struct process_context *context)
{
	const Value *value = attribute->value;

	if (value && !strcmp(attribute->key, "threadlocal.schema_version"))
		context->knows_schema = is_understood(value->string_value);
	else if (value && value->array_value &&
		 !strcmp(attribute->key, "threadlocal.attribute_key_map"))
		take_keys(value->array_value, context);
}

static void take_attributes(KeyValue *const *attributes, size_t count,
			    struct process_context *context)
{
	for (size_t i = 0; i < count; i++)
		take_attribute(attributes[i], context);
}

int process_context_parse(const __u8 *bytes, size_t size, struct process_context *ret_context)
{
	Message *message = ctxprop__process_context__process_context__unpack(NULL, size, bytes);

	*ret_context = (struct process_context){};
	if (!message)
		return -EINVAL;
	if (message->resource)
		take_attributes(message->resource->attributes, message->resource->n_attributes,
				ret_context);
	take_attributes(message->attributes, message->n_attributes, ret_context);
	ctxprop__process_context__process_context__free_unpacked(message, NULL);
	return 0;
}

static int work(int socket, void *data)
{
	struct order *order = data;
	int err = sandbox_confine();

	(void)socket;
	return err ? err : process_context_parse(order->bytes, order->size, &order->context);
}

static int parse_confined(struct order *order)
{
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;
	int err = sandbox_start(work, order, &sandbox);

	if (err)
		return err;
	return sandbox_wait(&sandbox) == SANDBOX_DONE ? 0 : -EINVAL;
}

static int read_header(struct proc_reader *reader, __u64 address, struct header *ret)
{
	if (proc_reader_memory(reader, address, ret, sizeof(*ret)) ||
	    memcmp(ret->signature, SIGNATURE, sizeof(ret->signature)) != 0 ||
	    ret->version != VERSION || ret->size > PROCESS_CONTEXT_BYTES)
		return -EINVAL;
	return ret->published_ns ? 0 : -EAGAIN;
}

/* Read a consistent payload: the header must be the same before and after reading it. */
static int copy(struct proc_reader *reader, __u64 address, const struct header *before,
		struct order *order)
{
	struct header after;

	if (proc_reader_memory(reader, before->payload, order->bytes, before->size) ||
	    proc_reader_memory(reader, address, &after, sizeof(after)) ||
	    memcmp(before, &after, sizeof(after)) != 0)
		return -EAGAIN;
	order->size = before->size;
	return 0;
}

/* Check texts from a sandbox, which may have been compromised. */
static void end_texts(struct process_context *context)
{
	for (size_t i = 0; i < PROCESS_CONTEXT_KEYS; i++)
		context->key[i][PROFILE_LABEL_KEY - 1] = '\0';
}

static int read_payload(struct proc_reader *reader, __u64 address, const struct header *header,
			struct process_context *context)
{
	struct order *order = confined_alloc(sizeof(*order));
	int err = order ? copy(reader, address, header, order) : -ENOMEM;

	if (!err)
		err = parse_confined(order);
	if (!err) {
		*context = order->context;
		context->published_ns = header->published_ns;
		end_texts(context);
	}
	confined_free(order, sizeof(*order));
	return err;
}

int process_context_read(struct proc_reader *reader, __u64 address, struct process_context *context)
{
	struct header header;
	int err = read_header(reader, address, &header);

	if (err || header.published_ns == context->published_ns)
		return err;
	return read_payload(reader, address, &header, context);
}
