// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/profile_output.h"
#include "cmd/profile_write.h"
#include "profile/draw/flame.h"
#include "profile/draw/otlp.h"
#include "profile/message/endpoints.h"

struct profile_format {
	const char *name, *ending;
	int (*write)(const struct message *message, FILE *out); /* 0 or -errno */
	bool has_links;                                         /* see profile_format_has_links() */
	bool is_picture; /* for people to look at: it begins with what requests cost */
};

/* How samples were taken, if the message tells it of all of them: " at 99 Hz". */
static void hz_text(const struct message *message, char *buffer, size_t size)
{
	const __u64 period_ns = (__u64)message->profile->period;
	struct message_weight count = {.message = message}, cpu = {.message = message};

	*buffer = '\0';
	if (!period_ns || message_type(message, "samples", &count.type) ||
	    message_type(message, "cpu", &cpu.type))
		return;
	if (message_weigh_all(&cpu) == message_weigh_all(&count) * period_ns)
		snprintf(buffer, size, " at %llu Hz", (NS_PER_SECOND + period_ns / 2) / period_ns);
}

/* With what belongs to no request, or without it. */
static const char *of_what(const struct message *message, const struct flame *root)
{
	return !message_has_endpoints(message) || flame_child(root, ENDPOINT_NONE)
		   ? "by endpoint"
		   : "of requests, by endpoint";
}

static void write_title(const struct message *message, const struct flame *root,
			enum flame_unit unit, char *title, size_t size)
{
	const double seconds = (double)root->total / (double)NS_PER_SECOND;
	const char *of = of_what(message, root);
	char hz[32];

	hz_text(message, hz, sizeof(hz));
	if (unit != FLAME_NS)
		snprintf(title, size, "CPU %s: %llu samples%s", of, root->total, hz);
	else if (message_has_waits(message) && *hz)
		snprintf(title, size, "Wall-clock time %s: %.3f s, on the CPU by samples%s", of,
			 seconds, hz);
	else
		snprintf(title, size, "Time %s: %.3f s", of, seconds);
}

static int write_svg(const struct message *message, FILE *out)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);
	char title[128];

	if (!root)
		return -ENOMEM;
	write_title(message, root, flame_unit_of(&weight), title, sizeof(title));
	flame_write_svg(root, flame_unit_of(&weight), title, out);
	flame_free(root);
	return 0;
}

static int write_folded(const struct message *message, FILE *out)
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
    {"pprof", ".pb.gz", message_write, false, false},
    {"svg", ".svg", write_svg, false, true},
    {"folded", ".folded", write_folded, false, false},
    {"otlp", ".otlp", otlp_profile_write, true, false},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

bool profile_format_is(const struct profile_format *format, const char *name)
{
	return !strcmp(format->name, name);
}

bool profile_format_has_links(const struct profile_format *format)
{
	return format->has_links;
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

/* A message that is to be written. */
struct writing {
	const struct profile_format *format;
	struct message *message;
	bool all;
};

static int write_format(const void *data, FILE *out)
{
	const struct writing *writing = data;
	struct message part = {.profile = writing->message->profile};
	int err = writing->format->is_picture && !writing->all
		      ? message_requests(writing->message, &part)
		      : 0;

	return err ? err : writing->format->write(&part, out);
}

int profile_write(const struct profile_format *format, const char *file, struct message *message,
		  bool all)
{
	const struct writing writing = {format, message, all};

	return profile_write_file(file, write_format, &writing);
}
