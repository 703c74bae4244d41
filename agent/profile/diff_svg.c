// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "profile/diff.h"
#include "profile/flame_svg.h"

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
