// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/unique.h"
#include "profile/draw/diff.h"
#include "profile/draw/flame.h"
#include "profile/draw/flame_svg.h"

/* Functions, by the number of their name. */
struct counting {
	struct unique names;
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

/* `ends`: it is the function in which the sample was taken. `mark`: a number for the sample. */
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

/* What a sample waits for comes behind its function; it is not counted. */
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
	unique_free_all(&counting.names);
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

#define SAME 0.005 /* what differs by less of itself is as much */

/* A frame of both trees, of which one may be NULL. */
struct pair {
	const struct flame *of[DIFF_SIDES];
};

struct drawing {
	FILE *out;
	enum flame_unit unit;
	double all[DIFF_SIDES];
	int height;
};

static double share(const struct drawing *drawing, const struct pair *pair, enum diff_side side)
{
	return pair->of[side] ? (double)pair->of[side]->total / drawing->all[side] : 0;
}

static double width_of(const struct drawing *drawing, const struct pair *pair)
{
	return FLAME_SVG_WIDTH *
	       (share(drawing, pair, DIFF_BEFORE) + share(drawing, pair, DIFF_AFTER)) / 2;
}

static bool is_there(const struct pair *pair)
{
	return pair->of[DIFF_BEFORE] || pair->of[DIFF_AFTER];
}

static int order(const struct flame *before, const struct flame *after)
{
	int names;

	if (!before || !after)
		return before ? -1 : 1;
	names = strcmp(before->name, after->name);
	return names ? names : (int)before->kind - (int)after->kind;
}

/*
 * The children are sorted by name, those of one name in the order in which they were met. Take the
 * next of both, if they are the same, or that which comes first, off the lists `left`.
 */
static struct pair next_pair(struct pair *left)
{
	const int first = is_there(left) ? order(left->of[DIFF_BEFORE], left->of[DIFF_AFTER]) : 0;
	struct pair pair = *left;

	if (first < 0)
		pair.of[DIFF_AFTER] = NULL;
	if (first > 0)
		pair.of[DIFF_BEFORE] = NULL;
	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		if (pair.of[side])
			left->of[side] = pair.of[side]->sibling;
	return pair;
}

static struct pair children(const struct pair *pair)
{
	struct pair left = {};

	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		left.of[side] = pair->of[side] ? pair->of[side]->child : NULL;
	return left;
}

static int depth_of(const struct drawing *drawing, const struct pair *pair)
{
	struct pair left = children(pair);
	int deepest = 0;

	if (width_of(drawing, pair) < FLAME_SVG_WIDTH_MIN)
		return 0;
	for (struct pair child = next_pair(&left); is_there(&child); child = next_pair(&left)) {
		int depth = depth_of(drawing, &child);

		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

/* From blue (only before) by grey (as much) to red (only after). */
static void write_colour(const struct drawing *drawing, const struct pair *pair)
{
	const double before = share(drawing, pair, DIFF_BEFORE);
	const double after = share(drawing, pair, DIFF_AFTER);
	const double change = (after - before) / (after + before); /* a frame has one of both */
	const double strength = change < 0 ? -change : change;

	if (strength < SAME)
		fputs("hsl(0 0% 92%)", drawing->out);
	else
		fprintf(drawing->out, "hsl(%d 85%% %.0f%%)", change < 0 ? 220 : 5,
			95 - 35 * strength);
}

static void write_amount(const struct drawing *drawing, const struct pair *pair)
{
	const double before = 100 * share(drawing, pair, DIFF_BEFORE);
	const double after = 100 * share(drawing, pair, DIFF_AFTER);
	__u64 sum = 0;

	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		sum += pair->of[side] ? pair->of[side]->total : 0;
	if (drawing->unit == FLAME_NS)
		fprintf(drawing->out, " (%.3f ms", (double)sum / 1e6);
	else
		fprintf(drawing->out, " (%llu samples", sum);
	fprintf(drawing->out, ", %.2f%% before, %.2f%% after, %+.2f)", before, after,
		after - before);
}

static void write_frame(const struct drawing *drawing, const struct pair *pair, double x, int depth)
{
	const int y = drawing->height - FLAME_SVG_MARGIN - (depth + 1) * FLAME_SVG_ROW;
	const struct flame *node = pair->of[pair->of[DIFF_AFTER] ? DIFF_AFTER : DIFF_BEFORE];
	const double width = width_of(drawing, pair);
	FILE *out = drawing->out;

	fprintf(out, "<g data-x=\"%.3f\" data-w=\"%.3f\" data-d=\"%d\"><title>", x, width, depth);
	flame_svg_text(node->name, out);
	write_amount(drawing, pair);
	fprintf(out, "</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"",
		FLAME_SVG_MARGIN + x, y, width, FLAME_SVG_ROW - 1);
	write_colour(drawing, pair);
	fprintf(out, "\"/><text x=\"%.2f\" y=\"%d\"></text></g>\n", FLAME_SVG_MARGIN + x + 3,
		y + FLAME_SVG_ROW - 5);
}

static void write_tree(const struct drawing *drawing, const struct pair *pair, double x, int depth)
{
	struct pair left = children(pair);

	if (width_of(drawing, pair) < FLAME_SVG_WIDTH_MIN)
		return;
	write_frame(drawing, pair, x, depth);
	for (struct pair child = next_pair(&left); is_there(&child); child = next_pair(&left)) {
		write_tree(drawing, &child, x, depth + 1);
		x += width_of(drawing, &child);
	}
}

void diff_write_svg(const struct diff *diff, const char *title, FILE *out)
{
	const struct pair root = {{diff->root[DIFF_BEFORE], diff->root[DIFF_AFTER]}};
	struct drawing drawing = {.out = out, .unit = diff->unit};

	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		drawing.all[side] = root.of[side]->total ? (double)root.of[side]->total : 1;
	drawing.height = flame_svg_height(depth_of(&drawing, &root));
	flame_svg_begin(drawing.height, title, out);
	write_tree(&drawing, &root, 0, 0);
	flame_svg_end(out);
}
