// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "profile/message_path.h"
#include "profile/out/speedscope.h"
#include "profile/strings.h"

#define SCHEMA    "https://www.speedscope.app/file-format-schema.json"
#define TITLE_MAX 1280

/* Samples of one profile of the group. */
struct group {
	const char *name;
	__u64 total;
};

struct writing {
	const struct message *message;
	struct message_weight weight;
	struct message_path path;
	struct strings
	    frames; /* NAME, a newline, FILE; their numbers are 1 more than speedscope's */
	struct strings titles; /* number 0: samples of no endpoint */
	long *title;           /* of each sample */
	FILE *out;
};

static int write_text(FILE *out, const char *text)
{
	json_t *string = json_string(text);
	int err = string ? 0 : -ENOMEM;

	/* What cannot be written is seen when the file is closed. */
	if (string)
		json_dumpf(string, out, JSON_ENCODE_ANY);
	json_decref(string);
	return err;
}

/* The number of a step's frame, or -ENOMEM. A newline in a name would end it. */
static long frame_of(struct writing *writing, const struct message_step *step)
{
	_cleanup_free_ char *key = NULL;
	long number = -1;

	if (asprintf(&key, "%s\n%s", step->name, step->file ? step->file : "") >= 0)
		number = strings_add(&writing->frames, key);
	else
		key = NULL;
	return number < 0 ? -ENOMEM : number - 1;
}

static int find_title(struct writing *writing, size_t sample)
{
	char title[TITLE_MAX];

	message_title(writing->message, writing->message->profile->sample[sample], title,
		      sizeof(title));
	writing->title[sample] = strings_add(&writing->titles, title);
	return writing->title[sample] < 0 ? -ENOMEM : 0;
}

/* All frames, and all titles, by number. */
static int find_texts(struct writing *writing)
{
	const Perftools__Profiles__Profile *profile = writing->message->profile;
	long number = 0;
	int err = 0;

	writing->title = calloc(profile->n_sample + 1, sizeof(*writing->title));
	if (!writing->title)
		return -ENOMEM;
	for (size_t i = 0; !err && number >= 0 && i < profile->n_sample; i++) {
		err = message_path(&writing->path, writing->message, profile->sample[i], true);
		for (size_t k = 0; !err && number >= 0 && k < writing->path.count; k++)
			number = frame_of(writing, &writing->path.step[k]);
		if (!err)
			err = find_title(writing, i);
	}
	return err || number < 0 ? -ENOMEM : 0;
}

static int write_frame(struct writing *writing, const char *key)
{
	const char *end = strrchr(key, '\n');
	_cleanup_free_ char *name = strndup(key, (size_t)(end - key));
	int err = name ? 0 : -ENOMEM;

	fputs("{\"name\":", writing->out);
	if (!err)
		err = write_text(writing->out, name);
	if (!err && end[1]) {
		fputs(",\"file\":", writing->out);
		err = write_text(writing->out, end + 1);
	}
	fputc('}', writing->out);
	return err;
}

static int write_frames(struct writing *writing)
{
	int err = 0;

	fputs("\"shared\":{\"frames\":[", writing->out);
	for (size_t i = 1; !err && i < writing->frames.count; i++) {
		fputs(i > 1 ? ",\n" : "\n", writing->out);
		err = write_frame(writing, writing->frames.text[i]);
	}
	fputs("]},\n", writing->out);
	return err;
}

/* Of all titles if `title` is -1: only then the endpoint is a frame. */
static bool is_of(const struct writing *writing, size_t sample, long title)
{
	return (title < 0 || writing->title[sample] == title) &&
	       message_weigh(&writing->weight, writing->message->profile->sample[sample]);
}

static int write_stack(struct writing *writing, const Perftools__Profiles__Sample *sample,
		       bool with_endpoint)
{
	long number = 0;

	if (message_path(&writing->path, writing->message, sample, with_endpoint))
		return -ENOMEM;
	fputc('[', writing->out);
	for (size_t i = 0; number >= 0 && i < writing->path.count; i++) {
		number = frame_of(writing, &writing->path.step[i]);
		fprintf(writing->out, "%s%ld", i ? "," : "", number);
	}
	fputc(']', writing->out);
	return number < 0 ? -ENOMEM : 0;
}

static int write_stacks(struct writing *writing, long title)
{
	const Perftools__Profiles__Profile *profile = writing->message->profile;
	const char *separator = "";
	int err = 0;

	fputs("\"samples\":[", writing->out);
	for (size_t i = 0; !err && i < profile->n_sample; i++) {
		if (!is_of(writing, i, title))
			continue;
		fputs(separator, writing->out);
		separator = ",\n";
		err = write_stack(writing, profile->sample[i], title < 0);
	}
	fputs("],\n", writing->out);
	return err;
}

static void write_weights(struct writing *writing, long title)
{
	const Perftools__Profiles__Profile *profile = writing->message->profile;
	const char *separator = "";

	fputs("\"weights\":[", writing->out);
	for (size_t i = 0; i < profile->n_sample; i++) {
		if (!is_of(writing, i, title))
			continue;
		fprintf(writing->out, "%s%llu", separator,
			message_weigh(&writing->weight, profile->sample[i]));
		separator = ",";
	}
	fputs("]}", writing->out);
}

/* The units that speedscope knows are called as pprof's. */
static const char *unit_of(const struct writing *writing)
{
	static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds",
					    "seconds", "bytes"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(writing->weight.unit, known[i]))
			return known[i];
	return "none";
}

static int write_profile(struct writing *writing, const struct group *group, long title)
{
	int err;

	fputs("{\"type\":\"sampled\",\"name\":", writing->out);
	err = write_text(writing->out, group->name);
	fprintf(writing->out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%llu,\n",
		unit_of(writing), group->total);
	if (!err)
		err = write_stacks(writing, title);
	if (!err)
		write_weights(writing, title);
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct group *first = a, *second = b;

	return (first->total < second->total) - (first->total > second->total);
}

/* By title, that with the most first; number 0 is of all. NULL: no memory. */
static struct group *find_groups(struct writing *writing)
{
	const Perftools__Profiles__Profile *profile = writing->message->profile;
	const size_t count = writing->titles.count;
	struct group *groups = calloc(count + 1, sizeof(*groups));

	if (!groups)
		return NULL;
	for (size_t i = 0; i < count; i++)
		groups[i].name = writing->titles.text[i];
	for (size_t i = 0; i < profile->n_sample; i++) {
		const __u64 weight = message_weigh(&writing->weight, profile->sample[i]);
		const long title = writing->title[i];

		groups[0].total += weight;
		if (title > 0)
			groups[title].total += weight;
	}
	groups[0].name = "all";
	if (count > 1)
		qsort(groups + 1, count - 1, sizeof(*groups), compare);
	return groups;
}

static int write_profiles(struct writing *writing)
{
	_cleanup_free_ struct group *groups = find_groups(writing);
	int err = groups ? write_profile(writing, &groups[0], -1) : -ENOMEM;

	for (size_t i = 1; !err && i < writing->titles.count; i++) {
		if (!groups[i].total)
			continue;
		fputs(",\n", writing->out);
		err = write_profile(writing, &groups[i],
				    strings_add(&writing->titles, groups[i].name));
	}
	return err;
}

int speedscope_write(const struct message *message, FILE *out)
{
	struct writing writing = {
	    .message = message, .weight = message_by_time(message), .out = out};
	int err = find_texts(&writing);

	fprintf(out, "{\"$schema\":\"" SCHEMA "\",\"exporter\":\"ctxprop %s\",\n", CTXPROP_VERSION);
	if (!err)
		err = write_frames(&writing);
	fputs("\"activeProfileIndex\":0,\"profiles\":[\n", out);
	if (!err)
		err = write_profiles(&writing);
	fputs("]}\n", out);
	strings_free(&writing.frames);
	strings_free(&writing.titles);
	free(writing.title);
	message_path_free(&writing.path);
	return err;
}
