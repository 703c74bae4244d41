// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/diff.h"
#include "profile/flame.h"
#include "profile/strings.h"

/* Functions, by the number of their name. */
struct counting {
	struct strings names;
	struct diff_function *function;
	size_t *last; /* the sample plus 1 that a function was seen in last */
	size_t room;
	struct message_path path;
};

/* Room for as many functions as there may be names. */
static int make_room(struct counting *counting)
{
	const size_t room = counting->names.room;
	struct diff_function *function;
	size_t *last;

	if (counting->room == room)
		return 0;
	function = reallocarray(counting->function, room, sizeof(*function));
	counting->function = function ? function : counting->function;
	last = reallocarray(counting->last, room, sizeof(*last));
	counting->last = last ? last : counting->last;
	if (!function || !last)
		return -ENOMEM;
	for (size_t i = counting->room; i < room; i++) {
		function[i] = (struct diff_function){};
		last[i] = 0;
	}
	counting->room = room;
	return 0;
}

/* `ends`: it is what the sample was taken in. `mark`: tells the sample from others. */
static int count_step(struct counting *counting, const struct message_step *step,
		      enum diff_side side, double share, bool ends, size_t mark)
{
	long number = strings_add(&counting->names, step->name);
	struct diff_function *function;

	if (number < 0 || make_room(counting))
		return -ENOMEM;
	function = &counting->function[number];
	if (ends)
		function->self[side] += share;
	if (counting->last[number] != mark)
		function->total[side] += share;
	counting->last[number] = mark;
	return 0;
}

/* What a sample waits for stands behind its function. */
static size_t count_of_functions(const struct message_path *path)
{
	size_t count = path->count;

	while (count && !path->step[count - 1].file)
		count--;
	return count;
}

static int count_sample(struct counting *counting, enum diff_side side, double share, size_t mark)
{
	const struct message_path *path = &counting->path;
	const size_t count = count_of_functions(path);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		if (path->step[i].file)
			err =
			    count_step(counting, &path->step[i], side, share, i + 1 == count, mark);
	return err;
}

static int count_side(struct counting *counting, const struct message_weight *weight,
		      enum diff_side side, size_t mark)
{
	const Perftools__Profiles__Profile *profile = weight->message->profile;
	const double total = (double)message_weigh_all(weight);
	int err = 0;

	for (size_t i = 0; !err && i < profile->n_sample; i++) {
		const __u64 value = message_weigh(weight, profile->sample[i]);

		if (!value)
			continue;
		err = message_path(&counting->path, weight->message, profile->sample[i], false);
		if (!err)
			err = count_sample(counting, side, (double)value / total, mark + i);
	}
	return err;
}

static double difference(const double share[DIFF_SIDES])
{
	return share[DIFF_AFTER] - share[DIFF_BEFORE];
}

static int compare(const void *a, const void *b)
{
	const struct diff_function *first = a, *second = b;
	const double one = fabs(difference(first->self)), other = fabs(difference(second->self));

	if (one != other)
		return one < other ? 1 : -1;
	return strcmp(first->name, second->name);
}

/* The names become the functions'. */
static int take_functions(struct counting *counting, struct diff *diff)
{
	size_t count = 0;

	for (size_t i = 1; i < counting->names.count; i++) {
		counting->function[i].name = strdup(counting->names.text[i]);
		if (!counting->function[i].name)
			return -ENOMEM;
		counting->function[count++] = counting->function[i];
		diff->count = count;
		diff->function = counting->function;
	}
	if (count)
		qsort(diff->function, count, sizeof(*diff->function), compare);
	return 0;
}

static int count_functions(const struct message_weight weight[DIFF_SIDES], struct diff *diff)
{
	struct counting counting = {};
	size_t mark = 1;
	int err = 0;

	for (enum diff_side side = 0; !err && side < DIFF_SIDES; side++) {
		err = count_side(&counting, &weight[side], side, mark);
		mark += weight[side].message->profile->n_sample;
	}
	if (!err)
		err = take_functions(&counting, diff);
	if (!diff->function)
		free(counting.function);
	strings_free(&counting.names);
	message_path_free(&counting.path);
	free(counting.last);
	return err;
}

int diff_new(const struct message_weight weight[DIFF_SIDES], bool with_endpoint, struct diff *ret)
{
	struct diff diff = {.unit = flame_unit_of(&weight[DIFF_BEFORE])};
	int err = count_functions(weight, &diff);

	for (enum diff_side side = 0; !err && side < DIFF_SIDES; side++) {
		diff.root[side] = flame_of_message(&weight[side], with_endpoint);
		err = diff.root[side] ? 0 : -ENOMEM;
	}
	if (err)
		diff_free(&diff);
	else
		*ret = diff;
	return err;
}

void diff_free(struct diff *diff)
{
	for (size_t i = 0; i < diff->count; i++)
		free((char *)diff->function[i].name);
	free(diff->function);
	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		flame_free(diff->root[side]);
}
