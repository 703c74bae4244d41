// SPDX-License-Identifier: Apache-2.0
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/foreign.h"
#include "cmd/colour.h"
#include "cmd/waterfall.h"
#include "trace/span.h"

#define WIDTH       100 /* where no terminal says another one */
#define BAR_WIDTH   30
#define DEPTH_MAX   32 /* deeper spans are shown at this depth */
#define LABEL_MAX   512
#define FIXED_WIDTH (BAR_WIDTH + 19) /* all but the label */

/* What lines are drawn with. */
struct strokes {
	const char *branch, *last, *beside, *bar, *point;
};

static const struct strokes unicode = {"├ ", "└ ", "│ ", "━", "╸"};
static const struct strokes ascii = {"|-", "`-", "| ", "=", "-"};

struct drawing {
	const struct query_trace *trace;
	const struct strokes *strokes;
	__s64 start_ns, length_ns;
	int label_width;
	bool *drawn;    /* by span */
	size_t *parent; /* find_parent() of each */
};

const char *waterfall_duration(char *buffer, __s64 ns)
{
	if (ns < 1000000)
		snprintf(buffer, WATERFALL_DURATION_MAX, "%.0f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(buffer, WATERFALL_DURATION_MAX, "%.2f ms", (double)ns / 1e6);
	else
		snprintf(buffer, WATERFALL_DURATION_MAX, "%.2f s", (double)ns / 1e9);
	return buffer;
}

static int terminal_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < FIXED_WIDTH + 20
		   ? WIDTH
		   : size.ws_col;
}

/* Columns of a text in UTF-8, each character being as wide as any other. */
static int columns(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

/* Cut a text to so many columns, at a character. */
static void cut(char *text, int width)
{
	char *at = text;

	for (int column = 0; *at; at++)
		if ((*at & 0xc0) != 0x80 && column++ == width)
			break;
	*at = '\0';
}

static void describe(const struct query_span *span, char *label, size_t size)
{
	char whole[LABEL_MAX];
	const char *service = span->service ? span->service : "?";
	const char *method = span->method ? span->method : "?";
	const char *path = span->path ? span->path : "";

	if (span->kind == SPAN_SERVER)
		snprintf(whole, sizeof(whole), "%s  %s %s", service, method, path);
	else
		snprintf(whole, sizeof(whole), "%s > %s  %s %s",
			 span->forwarded ? "forwarded" : service, span->remote ? span->remote : "?",
			 method, path);
	foreign_copy(label, size, whole);
}

/* Which column of the bar a time falls into. */
static int place(const struct drawing *drawing, __s64 ns)
{
	return (int)((double)(ns - drawing->start_ns) / (double)drawing->length_ns * BAR_WIDTH);
}

static void print_bar(const struct drawing *drawing, const struct query_span *span)
{
	int from = place(drawing, span->start_ns);
	int to = place(drawing, span->start_ns + span->duration_ns);

	if (from >= BAR_WIDTH)
		from = BAR_WIDTH - 1;
	printf(" %*s", from, "");
	if (to <= from) {
		printf("%s\n", drawing->strokes->point);
		return;
	}
	for (int i = from; i < to && i < BAR_WIDTH; i++)
		fputs(drawing->strokes->bar, stdout);
	putchar('\n');
}

/* "given" of "given-up": there is little room. */
static void first_word(char *to, size_t size, const char *words)
{
	snprintf(to, size, "%.*s", (int)strcspn(words, "-"), words);
}

static void print_status(const struct query_span *span)
{
	enum colour colour = span->error ? COLOUR_BAD : COLOUR_GOOD;
	char text[16];

	if (span->status)
		snprintf(text, sizeof(text), "%d", span->status);
	else
		first_word(text, sizeof(text), span->outcome ? span->outcome : "");
	colour_print(colour, "%-6s", text);
}

static void print_span(const struct drawing *drawing, const struct query_span *span,
		       const char *lead)
{
	char label[LABEL_MAX], duration[WATERFALL_DURATION_MAX];
	int width = drawing->label_width - columns(lead);

	describe(span, label, sizeof(label));
	cut(label, width > 0 ? width : 0);
	printf("%s", lead);
	colour_print(span->kind == SPAN_SERVER ? COLOUR_NAME : COLOUR_PLAIN, "%s", label);
	printf("%*s ", width > columns(label) ? width - columns(label) : 0, "");
	print_status(span);
	printf("%10s", waterfall_duration(duration, span->duration_ns));
	print_bar(drawing, span);
}

/* Is `server` the other end of the request that `client` is? */
static bool is_other_end(const struct query_span *server, const struct query_span *client)
{
	return server->kind == SPAN_SERVER && client->kind == SPAN_CLIENT && server->local &&
	       server->remote && client->local && client->remote &&
	       !strcmp(server->local, client->remote) && !strcmp(server->remote, client->local) &&
	       server->start_ns >= client->start_ns &&
	       server->start_ns <= client->start_ns + client->duration_ns;
}

/*
 * The index of the parent of a span; `count`: it has none. A program that forwards a traceparent
 * unchanged names its caller's span: then the connection tells which call it was.
 */
static size_t find_parent(const struct query_trace *trace, const struct query_span *child)
{
	size_t named = trace->count;

	for (size_t i = 0; i < trace->count; i++) {
		const struct query_span *span = &trace->span[i];

		if (span != child && is_other_end(child, span))
			return i;
		if (span != child && !strcmp(child->parent_id, span->span_id))
			named = i;
	}
	return named;
}

/* The next child that is not drawn; `count`: there is none. */
static size_t next_child(const struct drawing *drawing, size_t parent, size_t from)
{
	size_t i = from;

	while (i < drawing->trace->count && (drawing->drawn[i] || drawing->parent[i] != parent))
		i++;
	return i;
}

/* `lead`: what stands before the children of this span. */
static void draw_children(struct drawing *drawing, size_t parent, const char *lead, int depth)
{
	const struct strokes *strokes = drawing->strokes;
	const struct query_trace *trace = drawing->trace;
	char own[DEPTH_MAX * 4], next[DEPTH_MAX * 4];

	for (size_t i = next_child(drawing, parent, 0), after; i < trace->count; i = after) {
		drawing->drawn[i] = true;
		after = next_child(drawing, parent, i + 1);
		snprintf(own, sizeof(own), "%s%s", lead,
			 after < trace->count ? strokes->branch : strokes->last);
		snprintf(next, sizeof(next), "%s%s", lead,
			 after < trace->count ? strokes->beside : "  ");
		print_span(drawing, &trace->span[i], own);
		draw_children(drawing, i, depth < DEPTH_MAX / 2 ? next : lead, depth + 1);
	}
}

static void measure(struct drawing *drawing)
{
	const struct query_trace *trace = drawing->trace;
	__s64 end_ns = 0;

	drawing->start_ns = trace->span[0].start_ns;
	for (size_t i = 0; i < trace->count; i++) {
		__s64 end = trace->span[i].start_ns + trace->span[i].duration_ns;

		end_ns = end > end_ns ? end : end_ns;
	}
	drawing->length_ns = end_ns > drawing->start_ns ? end_ns - drawing->start_ns : 1;
}

static void print_title(const struct drawing *drawing)
{
	time_t seconds = drawing->start_ns / (__s64)NS_PER_SECOND;
	char when[32], duration[WATERFALL_DURATION_MAX];
	struct tm local;

	strftime(when, sizeof(when), "%F %T", localtime_r(&seconds, &local));
	colour_print(COLOUR_ADDRESS, "%s", drawing->trace->id);
	printf("  %s.%03lld  %s, %zu span%s\n", when,
	       (long long)(drawing->start_ns % (__s64)NS_PER_SECOND / 1000000),
	       waterfall_duration(duration, drawing->length_ns), drawing->trace->count,
	       drawing->trace->count == 1 ? "" : "s");
	if (drawing->trace->left_out)
		printf("%llu more spans that ended earlier are not shown\n",
		       (unsigned long long)drawing->trace->left_out);
}

/* A span on its own, with all that is below it. */
static void draw(struct drawing *drawing, size_t root)
{
	drawing->drawn[root] = true;
	print_span(drawing, &drawing->trace->span[root], "");
	draw_children(drawing, root, "", 1);
}

void waterfall_print(const struct query_trace *trace)
{
	_cleanup_free_ bool *drawn = calloc(trace->count, sizeof(*drawn));
	_cleanup_free_ size_t *parent = calloc(trace->count, sizeof(*parent));
	struct drawing drawing = {
	    .trace = trace, .drawn = drawn, .parent = parent, .strokes = &ascii};

	if (!drawn || !parent || !trace->count)
		return;
	setlocale(LC_CTYPE, "");
	if (!strcmp(nl_langinfo(CODESET), "UTF-8"))
		drawing.strokes = &unicode;
	drawing.label_width = terminal_width() - FIXED_WIDTH;
	measure(&drawing);
	print_title(&drawing);
	for (size_t i = 0; i < trace->count; i++)
		parent[i] = find_parent(trace, &trace->span[i]);
	for (size_t i = 0; i < trace->count; i++)
		if (!drawn[i] && parent[i] == trace->count)
			draw(&drawing, i);
	/* Spans whose parents form a circle, since clients can choose ids. */
	for (size_t i = 0; i < trace->count; i++)
		if (!drawn[i])
			draw(&drawing, i);
	putchar('\n');
}
