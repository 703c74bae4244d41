// SPDX-License-Identifier: Apache-2.0
/*
 * Profiles of strangers: whatever is taken is written in every format, by rules and without, what
 * is written as pprof is taken again, and it can be merged with itself.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/draw/diff.h"
#include "profile/draw/flame.h"
#include "profile/draw/otlp.h"
#include "profile/message/endpoints.h"
#include "profile/message/merge.h"
#include "profile/message/tags.h"

static const char rules[] = "match ^query$ tag one\nmatch file:a tag two\ndrop ^idle\n"
			    "fold ^(serve|main)$ as [folded]\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text is the caller's to free. */
static char *written(const struct message *message,
		     int (*write)(const struct message *message, FILE *out), size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	if (!out || write(message, out))
		abort();
	fclose(out);
	return text;
}

static int write_flame(const struct message *message, FILE *out)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);

	if (!root)
		abort();
	flame_write_svg(root, flame_unit_of(&weight), "fuzz", out);
	flame_write_folded(root, out);
	flame_free(root);
	return 0;
}

static int write_diff(const struct message *message, FILE *out)
{
	const struct message_weight weight[DIFF_SIDES] = {message_by_time(message),
							  message_by_time(message)};
	struct diff diff;

	if (diff_new(weight, true, &diff))
		abort();
	for (size_t i = 0; i < diff.count; i++)
		if (diff.function[i].self[DIFF_BEFORE] != diff.function[i].self[DIFF_AFTER])
			abort();
	diff_write_svg(&diff, "fuzz", out);
	diff_free(&diff);
	return 0;
}

static void write_all(const struct message *message)
{
	static int (*const writers[])(const struct message *message,
				      FILE *out) = {write_flame, write_diff, otlp_profile_write};
	char why[MESSAGE_WHY_MAX];
	struct message again;
	size_t size;
	char *text;

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		free(written(message, writers[i], &size));
	text = written(message, message_write, &size);
	if (message_parse((const __u8 *)text, size, &again, why)) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	if (again.profile->n_sample != message->profile->n_sample)
		abort();
	message_free(&again);
	free(text);
}

static __u64 total(const struct message *message)
{
	__u64 sum = 0;

	for (size_t i = 0; i < message->profile->n_sample; i++)
		for (size_t k = 0; k < message->profile->sample[i]->n_value; k++)
			sum += (__u64)message->profile->sample[i]->value[k];
	return sum;
}

static void look_at_endpoints(const struct message *message)
{
	struct message_endpoints endpoints;

	if (message_endpoints(message, &endpoints))
		abort();
	message_endpoints_free(&endpoints);
}

/* Nothing gets lost: twice the message is twice its values, in as many samples as once. */
static void merge(const struct message *message)
{
	struct message sum = {};
	size_t samples;

	if (message_merge(&sum, message))
		return; /* too many types */
	samples = sum.profile->n_sample;
	if (total(&sum) != total(message) || samples > message->profile->n_sample)
		abort();
	if (!message_merge(&sum, message) &&
	    (total(&sum) != 2 * total(message) || sum.profile->n_sample != samples))
		abort();
	write_all(&sum);
	look_at_endpoints(&sum);
	message_free(&sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[MESSAGE_WHY_MAX], line[TAGS_WHY_MAX];
	struct message message;
	struct tags *tags;

	if (message_parse(data, size, &message, why))
		return 0;
	write_all(&message);
	look_at_endpoints(&message);
	merge(&message);
	if (tags_parse(rules, strlen(rules), &tags, line) || tags_apply(tags, &message))
		abort();
	write_all(&message);
	tags_free(tags);
	message_free(&message);
	return 0;
}
