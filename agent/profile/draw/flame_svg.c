// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <string.h>

#include "flame_css.h"
#include "flame_js.h"
#include "profile/draw/flame.h"
#include "profile/draw/flame_svg.h"

#define WIDTH     FLAME_SVG_WIDTH
#define ROW       FLAME_SVG_ROW
#define HEAD      64
#define MARGIN    FLAME_SVG_MARGIN
#define WIDTH_MIN FLAME_SVG_WIDTH_MIN

const char flame_svg_policy[] =
    "default-src 'none'; script-src '" FLAME_JS_HASH "'; style-src '" FLAME_CSS_HASH "'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

struct drawing {
	FILE *out;
	enum flame_unit unit;
	double all; /* of these */
	int height;
};

static int depth_of(const struct flame *node, double all)
{
	int deepest = 0;

	for (const struct flame *child = node->child; child; child = child->sibling) {
		int depth =
		    WIDTH * (double)child->total / all < WIDTH_MIN ? 0 : depth_of(child, all);

		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

/* Names come from files of others: write them as text, never as markup. */
static void write_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else
			fputc(*text, out);
	}
}

/* A hue by kind, a shade by name, so that the same function looks the same everywhere. */
static void write_colour(const struct flame *node, int depth, FILE *out)
{
	static const unsigned int hues[] = {
	    [STEP_NATIVE] = 28, [STEP_KERNEL] = 160, [STEP_NAMED] = 52, [STEP_WAIT] = 230};
	unsigned int hash = 5381, hue = depth <= 1 ? 210 : hues[node->kind];

	for (const char *c = node->name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	fprintf(out, "hsl(%u %u%% %u%%)", hue,
		*node->name == '[' && node->kind != STEP_WAIT ? 0 : 55 + hash % 20,
		62 + hash / 32 % 12);
}

static void write_amount(const struct drawing *drawing, __u64 amount)
{
	if (drawing->unit == FLAME_NS)
		fprintf(drawing->out, " (%.3f ms", (double)amount / 1e6);
	else
		fprintf(drawing->out, " (%llu samples", amount);
}

static void write_frame(const struct drawing *drawing, const struct flame *node, double x,
			double width, int depth)
{
	const int y = drawing->height - MARGIN - (depth + 1) * ROW;
	FILE *out = drawing->out;

	fprintf(out, "<g data-x=\"%.3f\" data-w=\"%.3f\" data-d=\"%d\"><title>", x, width, depth);
	write_text(node->name, out);
	write_amount(drawing, node->total);
	fprintf(out,
		", %.2f%%)</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
		"height=\"%d\" fill=\"",
		100.0 * (double)node->total / drawing->all, MARGIN + x, y, width, ROW - 1);
	write_colour(node, depth, out);
	fprintf(out, "\"/><text x=\"%.2f\" y=\"%d\"></text></g>\n", MARGIN + x + 3, y + ROW - 5);
}

static void write_tree(const struct drawing *drawing, const struct flame *node, double x, int depth)
{
	double width = WIDTH * (double)node->total / drawing->all;

	if (width < WIDTH_MIN)
		return;
	write_frame(drawing, node, x, width, depth);
	for (const struct flame *child = node->child; child; child = child->sibling) {
		write_tree(drawing, child, x, depth + 1);
		x += WIDTH * (double)child->total / drawing->all;
	}
}

static void write_head(const struct drawing *drawing, const char *title)
{
	fprintf(drawing->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"100%%\" "
		"font-family=\"ui-monospace, monospace\" font-size=\"11\">\n"
		"<style>%s</style>\n<rect id=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
		"<text x=\"%d\" y=\"24\" font-size=\"15\">",
		(int)WIDTH + 2 * MARGIN, drawing->height, (const char *)flame_css, MARGIN);
	write_text(title, drawing->out);
	fprintf(
	    drawing->out,
	    "</text>\n<text id=\"back\" x=\"%d\" y=\"44\" tabindex=\"0\" role=\"button\">all</text>"
	    "<text id=\"ask\" x=\"%d\" y=\"44\" tabindex=\"0\" role=\"button\">search</text>"
	    "<text id=\"told\" x=\"%d\" y=\"44\"></text>\n<g id=\"frames\">\n",
	    MARGIN, MARGIN + 40, MARGIN + 110);
}

void flame_write_svg(const struct flame *root, enum flame_unit unit, const char *title, FILE *out)
{
	const double all = root->total ? (double)root->total : 1;
	const struct drawing drawing = {.out = out,
					.unit = unit,
					.all = all,
					.height = HEAD + 2 * MARGIN + depth_of(root, all) * ROW};

	write_head(&drawing, title);
	write_tree(&drawing, root, 0, 0);
	flame_svg_end(out);
}

int flame_svg_height(int depth)
{
	return HEAD + 2 * MARGIN + depth * ROW;
}

void flame_svg_begin(int height, const char *title, FILE *out)
{
	const struct drawing drawing = {.out = out, .height = height};

	write_head(&drawing, title);
}

void flame_svg_text(const char *text, FILE *out)
{
	write_text(text, out);
}

void flame_svg_end(FILE *out)
{
	fprintf(out, "</g>\n<script><![CDATA[%s]]></script>\n</svg>\n", (const char *)flame_js);
}
