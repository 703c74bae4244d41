// SPDX-License-Identifier: Apache-2.0
/*
 * Netlink messages that anybody could send to the daemon: what is taken out of them makes a policy
 * that can be written as a text and read again, and that arrives the same when it is sent; or is an
 * absolute path.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/codec.h"
#include "control/policy_file.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/policy_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SIZE_MAX_SENT 65536

static int take_rule(const struct policy_rule *rule, const struct control_about *about, void *data)
{
	struct policy_rule taken = *rule;
	struct policy_error error;

	(void)about;
	if (taken.prio == POLICY_PRIO_UNSAID)
		taken.prio = policy_next_prio(data);
	/* What the policy refuses is no news; go on with the others. */
	policy_put_rule(data, &taken, POLICY_PUT_EITHER, &error);
	return 0;
}

static int take_set(const struct policy_set *set, void *data)
{
	struct policy_error error;

	policy_put_set(data, set, false, &error);
	return 0;
}

/* Who asks opens what it is told. */
static int take_store(const struct control_store *store, void *data)
{
	(void)data;
	if (*store->path && *store->path != '/')
		abort();
	return 0;
}

static int read_message(const void *bytes, struct policy *ret)
{
	struct policy_error error = {};
	const struct control_visitor visitor = {.on_rule = take_rule,
						.on_set = take_set,
						.on_store = take_store,
						.data = ret,
						.error = &error};

	*ret = (struct policy){};
	return control_read(bytes, &visitor);
}

static char *text_of(const struct policy *policy)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		abort();
	policy_write(stream, policy);
	fclose(stream);
	return text;
}

static void send_again(const struct policy *policy, const char *text)
{
	static _Alignas(struct nlmsghdr) char bytes[4 * SIZE_MAX_SENT];
	struct control_message message;
	struct policy again;
	char *text_again;

	control_begin(&message, bytes, sizeof(bytes), CONTROL_RESTORE, NLM_F_REQUEST);
	for (size_t i = 0; i < policy->set_count; i++)
		if (!control_put_set(&message, &policy->sets[i]))
			abort();
	for (size_t i = 0; i < policy->count; i++)
		if (!control_put_rule(&message, &policy->rules[i], NULL))
			abort();
	if (read_message(bytes, &again))
		abort();
	text_again = text_of(&again);
	if (strcmp(text, text_again) != 0)
		abort();
	free(text_again);
	policy_clear(&again);
}

static void try_message(const struct nlmsghdr *header)
{
	struct policy policy, from_text;
	struct policy_error error = {};
	char *text;

	read_message(header, &policy);
	if (!policy.count && !policy.set_count)
		return;
	text = text_of(&policy);
	if (policy_read(text, strlen(text), "text", &from_text, &error)) {
		fprintf(stderr, "%s\nin: %s\n", error.text, text);
		abort();
	}
	send_again(&policy, text);
	free(text);
	policy_clear(&from_text);
	policy_clear(&policy);
}

/* A datagram as it is: exactly as long as the memory that it stands in. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *datagram = size && size <= SIZE_MAX_SENT ? malloc(size) : NULL;
	const char *at = datagram;
	const struct nlmsghdr *header;
	size_t left = size;

	if (!datagram)
		return 0;
	memcpy(datagram, data, size);
	while ((header = control_next(&at, &left)))
		try_message(header);
	free(datagram);
	return 0;
}
