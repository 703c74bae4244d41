// SPDX-License-Identifier: Apache-2.0
/*
 * Profiles of strangers: whatever is taken is written in every format, by rules and without, and
 * what is written as pprof is taken again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/diff.h"
#include "profile/flame_message.h"
#include "profile/out/otlp.h"
#include "profile/out/speedscope.h"
#include "profile/tags.h"

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
	static int (*const writers[])(const struct message *message, FILE *out) = {
	    write_flame, write_diff, speedscope_write, otlp_profile_write};
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[MESSAGE_WHY_MAX], line[TAGS_WHY_MAX];
	struct message message;
	struct tags *tags;

	if (message_parse(data, size, &message, why))
		return 0;
	write_all(&message);
	if (tags_parse(rules, strlen(rules), &tags, line) || tags_apply(tags, &message))
		abort();
	write_all(&message);
	tags_free(tags);
	message_free(&message);
	return 0;
}
