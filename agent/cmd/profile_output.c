// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cmd/profile_output.h"
#include "cmd/profile_write.h"
#include "profile/flame_message.h"
#include "profile/message_endpoints.h"
#include "profile/message_requests.h"
#include "profile/out/otlp.h"
#include "profile/out/speedscope.h"
#include "profile/pprof.h"

struct profile_format {
	const char *name, *ending;
	/* Of samples, and of what was read; 0 or -errno. NULL: samples are converted. */
	int (*write)(const struct profile_result *result, FILE *out);
	int (*write_message)(const struct message *message, FILE *out);
	bool has_links;  /* to spans, without labels for them */
	bool is_picture; /* see profile_format_is_picture() */
};

static int write_pprof(const struct profile_result *result, FILE *out)
{
	const struct pprof_options options = {.from_ns = result->from_ns,
					      .duration_ns = result->to_ns - result->from_ns,
					      .hz = result->hz,
					      .off_cpu = result->off_cpu,
					      .filter = result->filter,
					      .ids = result->ids,
					      .partial = result->partial,
					      .servers = result->servers,
					      .lost = result->lost};

	return pprof_write(result->samples, result->names, result->requests, &options, out);
}

/* For a title: with what belongs to no request, or without it. */
static const char *of_what(const struct flame *root)
{
	return flame_child(root, ENDPOINT_NONE) ? "by endpoint" : "of requests, by endpoint";
}

static int write_svg(const struct profile_result *result, FILE *out)
{
	const char *of = of_what(result->root);
	char title[128];

	if (result->off_cpu)
		snprintf(title, sizeof(title),
			 "Wall-clock time %s: %.3f s, on the CPU by samples at %u Hz", of,
			 (double)result->root->total / (double)NS_PER_SECOND, result->hz);
	else
		snprintf(title, sizeof(title), "CPU %s: %llu samples at %u Hz", of,
			 result->root->total, result->hz);
	flame_write_svg(result->root, result->off_cpu ? FLAME_NS : FLAME_SAMPLES, title, out);
	return 0;
}

static int write_folded(const struct profile_result *result, FILE *out)
{
	flame_write_folded(result->root, out);
	return 0;
}

static int write_svg_of(const struct message *message, FILE *out)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);
	const char *of;
	char title[128];

	if (!root)
		return -ENOMEM;
	of = message_has_endpoints(message) ? of_what(root) : "by endpoint";
	if (flame_unit_of(&weight) == FLAME_NS)
		snprintf(title, sizeof(title), "Time %s: %.3f s", of,
			 (double)root->total / (double)NS_PER_SECOND);
	else
		snprintf(title, sizeof(title), "CPU %s: %llu samples", of, root->total);
	flame_write_svg(root, flame_unit_of(&weight), title, out);
	flame_free(root);
	return 0;
}

static int write_folded_of(const struct message *message, FILE *out)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);

	if (!root)
		return -ENOMEM;
	flame_write_folded(root, out);
	flame_free(root);
	return 0;
}

static const struct profile_format formats[] = {
    {"pprof", ".pb.gz", write_pprof, message_write, false, false},
    {"svg", ".svg", write_svg, write_svg_of, false, true},
    {"folded", ".folded", write_folded, write_folded_of, false, false},
    {"speedscope", ".json", NULL, speedscope_write, false, false},
    {"otlp", ".otlp", NULL, otlp_profile_write, true, false},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

bool profile_format_is(const struct profile_format *format, const char *name)
{
	return !strcmp(format->name, name);
}

bool profile_format_is_picture(const struct profile_format *format)
{
	return format->is_picture;
}

const struct profile_format *profile_format_named(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	return NULL;
}

const struct profile_format *profile_format_of_file(const char *file)
{
	size_t length = strlen(file);

	for (size_t i = 0; i < FORMATS; i++) {
		size_t ending = strlen(formats[i].ending);

		if (length > ending && !strcmp(file + length - ending, formats[i].ending))
			return &formats[i];
	}
	return NULL;
}

/* A file that is to be written. */
struct writing {
	const struct profile_format *format;
	const struct profile_result *result;
};

/* `all`: as in struct profile_result. */
static int write_message_as(const struct profile_format *format, struct message *message, bool all,
			    FILE *out)
{
	struct message part = {.profile = message->profile};
	int err = format->is_picture && !all ? message_requests(message, &part) : 0;

	return err ? err : format->write_message(&part, out);
}

/* Of samples by way of pprof, as of a file that is read. Ids: OTLP has a place of its own for them.
 */
static int write_converted(const struct profile_format *format, const struct profile_result *result,
			   FILE *out)
{
	struct profile_result with_ids = *result;
	_cleanup_free_ char *bytes = NULL;
	char why[MESSAGE_WHY_MAX];
	struct message message;
	size_t size = 0;
	FILE *stream = open_memstream(&bytes, &size);
	int err = stream ? 0 : -ENOMEM;

	with_ids.ids = result->ids || format->has_links;
	if (!err)
		err = write_pprof(&with_ids, stream);
	if (stream && fclose(stream) && !err)
		err = -ENOMEM;
	if (!err)
		err = message_parse((const __u8 *)bytes, size, &message, why);
	if (err)
		return err;
	if (result->tags)
		err = tags_apply(result->tags, &message);
	if (!err)
		err = write_message_as(format, &message, result->all, out);
	message_free(&message);
	return err;
}

static int write_format(const void *data, FILE *out)
{
	const struct writing *writing = data;
	const struct profile_format *format = writing->format;

	if (format->write && !writing->result->tags)
		return format->write(writing->result, out);
	return write_converted(format, writing->result, out);
}

int profile_write(const struct profile_format *format, const char *file,
		  const struct profile_result *result)
{
	const struct writing writing = {format, result};

	return profile_write_file(file, write_format, &writing);
}

/* A message that is to be written. */
struct message_writing {
	const struct profile_format *format;
	struct message *message;
	bool all;
};

static int write_message_format(const void *data, FILE *out)
{
	const struct message_writing *writing = data;

	return write_message_as(writing->format, writing->message, writing->all, out);
}

int profile_write_message(const struct profile_format *format, const char *file,
			  struct message *message, bool all)
{
	const struct message_writing writing = {format, message, all};

	return profile_write_file(file, write_message_format, &writing);
}
