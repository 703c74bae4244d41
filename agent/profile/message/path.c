// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/message/path.h"
#include "profile/message/pprof_types.h"

#define STEPS_BESIDE 5 /* those that are no functions */

static const char *unit_of(const struct message *message, size_t type)
{
	return message_text(message, message->profile->sample_type[type]->unit);
}

static size_t count_times(const struct message *message)
{
	size_t count = 0;

	for (size_t i = 0; i < message->profile->n_sample_type; i++)
		count += !strcmp(unit_of(message, i), "nanoseconds");
	return count;
}

int message_type(const struct message *message, const char *name, size_t *ret)
{
	const Profile *profile = message->profile;

	for (size_t i = 0; i < profile->n_sample_type; i++)
		if (!strcmp(message_text(message, profile->sample_type[i]->type), name)) {
			*ret = i;
			return 0;
		}
	return -ENOENT;
}

size_t message_default_type(const struct message *message)
{
	const Profile *profile = message->profile;

	for (size_t i = 0; profile->default_sample_type && i < profile->n_sample_type; i++)
		if (profile->sample_type[i]->type == profile->default_sample_type)
			return i;
	return profile->n_sample_type - 1;
}

struct message_weight message_by_time(const struct message *message)
{
	struct message_weight weight = {.message = message,
					.times = count_times(message),
					.type = message_default_type(message)};

	weight.unit = weight.times ? "nanoseconds" : unit_of(message, weight.type);
	return weight;
}

struct message_weight message_by_count(const struct message *message)
{
	const Profile *profile = message->profile;

	for (size_t i = 0; count_times(message) < 2 && i < profile->n_sample_type; i++)
		if (!strcmp(message_text(message, profile->sample_type[i]->type), "samples") &&
		    !strcmp(unit_of(message, i), "count"))
			return (struct message_weight){
			    .message = message, .unit = "count", .type = i};
	return message_by_time(message);
}

bool message_weights_fit(const struct message_weight *one, const struct message_weight *other)
{
	return one->times == other->times && !strcmp(one->unit, other->unit);
}

__u64 message_weigh(const struct message_weight *weight, const Sample *sample)
{
	__u64 sum = 0;

	if (!weight->times)
		return (__u64)sample->value[weight->type];
	for (size_t i = 0; i < sample->n_value; i++)
		if (!strcmp(unit_of(weight->message, i), "nanoseconds"))
			sum += (__u64)sample->value[i];
	return sum;
}

__u64 message_weigh_all(const struct message_weight *weight)
{
	const Perftools__Profiles__Profile *profile = weight->message->profile;
	__u64 sum = 0;

	for (size_t i = 0; i < profile->n_sample; i++)
		sum += message_weigh(weight, profile->sample[i]);
	return sum;
}

void message_title(const struct message *message, const Sample *sample, char *buffer, size_t size)
{
	const char *service = message_label(message, sample, "service");

	snprintf(buffer, size, "%s%s%s", service, *service ? " " : "",
		 message_label(message, sample, "endpoint"));
}

/* Room for the steps of a sample, which are counted anew. */
static int make_room(struct message_path *path, const struct message *message, const Sample *sample)
{
	size_t room = STEPS_BESIDE;
	struct message_step *more;

	for (size_t i = 0; i < sample->n_location_id; i++)
		room += 1 + message_functions(message, sample->location_id[i]);
	path->count = 0;
	if (room <= path->room)
		return 0;
	more = reallocarray(path->step, room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	path->step = more;
	path->room = room;
	return 0;
}

static void add(struct message_path *path, const char *name, const char *file, enum step_kind kind)
{
	if (*name)
		path->step[path->count++] = (struct message_step){name, file, kind};
}

/*
 * In files of ours the mapping tells the kind. "[unknown]" is code of a runtime, or code that
 * nothing is known of.
 */
static enum step_kind kind_of(const struct message *message, __u64 location, const char *mapping)
{
	if (!strcmp(mapping, "[kernel]"))
		return STEP_KERNEL;
	return !strcmp(mapping, "[unknown]") && message->profile->location[location - 1]->address
		   ? STEP_NAMED
		   : STEP_NATIVE;
}

static void add_location(struct message_path *path, const struct message *message, __u64 location)
{
	const char *mapping = message_mapping(message, location);
	const size_t count = message_functions(message, location);
	const enum step_kind kind = kind_of(message, location, mapping);

	if (!count)
		add(path, *mapping ? mapping : "[unknown code]", mapping, kind);
	for (size_t i = count; i > 0; i--) {
		const Function *function = message_function(message, location, i - 1);
		const char *name = message_text(message, function->name);

		add(path, *name ? name : "[unknown code]",
		    message_text(message, function->filename), kind);
	}
}

int message_path(struct message_path *path, const struct message *message, const Sample *sample,
		 bool with_endpoint)
{
	const char *wait = message_label(message, sample, "wait");

	if (make_room(path, message, sample))
		return -ENOMEM;
	message_title(message, sample, path->title, sizeof(path->title));
	if (with_endpoint)
		add(path, path->title, NULL, STEP_NATIVE);
	add(path, message_label(message, sample, "tag"), NULL, STEP_NATIVE);
	add(path, message_label(message, sample, "process"), NULL, STEP_NATIVE);
	add(path, message_label(message, sample, "stack"), NULL, STEP_NATIVE);
	for (size_t i = sample->n_location_id; i > 0; i--)
		add_location(path, message, sample->location_id[i - 1]);
	snprintf(path->wait, sizeof(path->wait), *wait ? "[%s]" : "%s", wait);
	add(path, path->wait, NULL, STEP_WAIT);
	return 0;
}

void message_path_free(struct message_path *path)
{
	free(path->step);
	*path = (struct message_path){};
}
