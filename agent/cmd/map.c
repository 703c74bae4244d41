// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <jansson.h>

#include "base/clock.h"
#include "base/foreign.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/store.h"
#include "cmd/waterfall.h"
#include "trace/edges.h"
#include "trace/json.h"
#include "trace/query_words.h"

#define LAST_NS (900 * NS_PER_SECOND)

static __u64 last_ns = LAST_NS;

const char command_map_usage[] =
    "  ctxprop map              who calls whom, and how often\n"
    "\n"
    "Hosts outside have the name that requests give them, or their address.\n";

static int set_last(const struct option_row *row, const char *word)
{
	if (query_parse_time(word, &last_ns) || !last_ns)
		return command_misused("--%s %s: expected a time: 30s, 5m, 2h", row->name, word);
	return COMMAND_OK;
}

const struct option_row command_map_options[] = {
    {"last", 0, "TIME", "of this long until now (default 15m)", .set = set_last},
    COMMAND_STORE_OPTION,
    {},
};

static int compare(const void *a, const void *b)
{
	const struct edge *first = *(const struct edge *const *)a;
	const struct edge *second = *(const struct edge *const *)b;

	return first->count < second->count ? 1 : first->count > second->count ? -1 : 0;
}

static __u64 p99_ns(const struct edge *edge)
{
	__u64 ns = histogram_percentile(&edge->durations, 99);

	return ns < edge->longest_ns ? ns : edge->longest_ns;
}

static int print_json(const struct edges *edges, double seconds)
{
	json_t *array = json_array();

	for (size_t i = 0; i < edges->count; i++) {
		const struct edge *edge = edges->edge[i];
		json_t *object =
		    json_pack("{sb,sb,sI,sI,sf,sI}", "from_outside", edge->from_outside,
			      "to_outside", edge->to_outside, "count", (json_int_t)edge->count,
			      "errors", (json_int_t)edge->errors, "rate",
			      (double)edge->count / seconds, "p99_ns", (json_int_t)p99_ns(edge));

		json_set_text(object, "caller", edge->caller);
		json_set_text(object, "callee", edge->callee);
		json_array_append_new(array, object);
	}
	return json_print(array);
}

static void print_edge(const struct edge *edge, double seconds)
{
	char text[WATERFALL_DURATION_MAX];

	printf("%9.1f ", (double)edge->count / seconds);
	colour_print(edge->errors ? COLOUR_BAD : COLOUR_GOOD, "%6.1f%%",
		     100.0 * (double)edge->errors / (double)edge->count);
	printf(" %10s  ", waterfall_duration(text, (__s64)p99_ns(edge)));
	foreign_print(edge->caller);
	fputs(" > ", stdout);
	foreign_print(edge->callee);
	putchar('\n');
}

static void print_table(const struct edges *edges, double seconds,
			const struct command_flags *flags)
{
	if (!flags->oneline)
		printf("%9s %7s %10s  %s\n", "PER S", "ERRORS", "P99", "CALLER > CALLEE");
	for (size_t i = 0; i < edges->count; i++)
		print_edge(edges->edge[i], seconds);
	if (edges->is_cut && !flags->oneline)
		printf("only of the newest %d spans of each side; ask for less time by --last\n",
		       EDGES_SPANS_MAX);
}

int command_map(const struct pins *pins, const struct command_flags *flags)
{
	sqlite3 *db = flags->count ? NULL : command_open_store();
	int exit_code = COMMAND_OK;
	struct edges edges;
	double seconds;

	(void)pins;
	if (flags->count)
		return command_misused("map: unexpected argument '%s'", flags->words[0]);
	if (!db)
		return COMMAND_REFUSED;
	if (edges_read(db, query_now_ns() - (__s64)last_ns, &edges)) {
		exit_code = command_refuse_store(db);
		sqlite3_close(db);
		return exit_code;
	}
	qsort(edges.edge, edges.count, sizeof(struct edge *), compare);
	seconds = (double)(query_now_ns() - edges.first_ns) / NS_PER_SECOND;
	if (flags->json)
		exit_code = print_json(&edges, seconds);
	else
		print_table(&edges, seconds, flags);
	edges_free(&edges);
	sqlite3_close(db);
	return exit_code;
}
