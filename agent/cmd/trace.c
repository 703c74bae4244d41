// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>

#include "base/number.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/store.h"
#include "cmd/waterfall.h"
#include "trace/json.h"
#include "trace/query.h"
#include "trace/query_words.h"

#define TRACES     10
#define TRACES_MAX 1000000
#define FOLLOW_US  300000

/* What the options ask for. */
static struct {
	struct query_filter filter;
	bool follow;
} wanted = {.filter = {.count = TRACES}};

const char command_trace_usage[] =
    "  ctxprop trace            recent traces, each as a tree of its spans\n"
    "  ctxprop trace ID         one trace; the first digits of its id are enough\n";

static int set_last(const struct option_row *row, const char *text)
{
	__u64 ns;

	if (query_parse_time(text, &ns))
		return command_misused("--%s %s: expected a time: 30s, 5m, 2h", row->name, text);
	wanted.filter.since_ns = query_now_ns() - (__s64)ns;
	return COMMAND_OK;
}

static int set_number(const struct option_row *row, const char *text)
{
	unsigned long number;

	if (number_parse(text, 1, TRACES_MAX, &number))
		return command_misused("--%s %s: expected a number from 1 to %d", row->name, text,
				       TRACES_MAX);
	wanted.filter.count = (unsigned int)number;
	return COMMAND_OK;
}

static int set_slow(const struct option_row *row, const char *word)
{
	if (query_parse_time(word, &wanted.filter.slow_ns))
		return command_misused("--%s %s: expected a time: 100ms, 1.5s", row->name, word);
	return COMMAND_OK;
}

static int set_status(const struct option_row *row, const char *word)
{
	if (query_parse_status(word, &wanted.filter))
		return command_misused("--%s %s: expected a status (503) or a class of them (5xx)",
				       row->name, word);
	return COMMAND_OK;
}

const struct option_row command_trace_options[] = {
    {"follow", 'f', NULL, "go on with new ones as they come", .flag = &wanted.follow},
    {"number", 'n', "N", "at most this many (default 10)", .set = set_number},
    {"slow", 0, "TIME", "with a span that took at least this long: 100ms, 1.5s", .set = set_slow},
    {"status", 0, "STATUS", "with a span of this status: 503, or 5xx", .set = set_status},
    {"errors", 0, NULL, "with a span that failed", .flag = &wanted.filter.errors},
    {"endpoint", 0, "PATTERN", "with a span whose path matches: '/api/*'",
     .text = &wanted.filter.endpoint},
    {"service", 0, "NAME", "with a span of this service", .text = &wanted.filter.service},
    {"last", 0, "TIME", "that began within this time: 30s, 5m", .set = set_last},
    COMMAND_STORE_OPTION,
    {},
};

static int add_json(const struct query_trace *trace, void *data)
{
	json_array_append_new(data, trace_json(trace));
	return 0;
}

/* One document to a line. */
static int print_line(const struct query_trace *trace, void *data)
{
	json_t *one = trace_json(trace);

	(void)data;
	json_dumpf(one, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(one);
	return 0;
}

static int print_tree(const struct query_trace *trace, void *data)
{
	(void)data;
	waterfall_print(trace);
	return 0;
}

static int show_json(sqlite3 *db, size_t *ret_count)
{
	json_t *traces = json_array();
	int err = query_traces(db, &wanted.filter, add_json, traces);

	*ret_count = json_array_size(traces);
	if (err) {
		json_decref(traces);
		return err;
	}
	return json_print(traces) == COMMAND_OK ? 0 : -EIO;
}

/* New traces are shown a moment later, when their other spans have arrived. */
static int follow(sqlite3 *db, bool json)
{
	struct query_filter filter = wanted.filter;
	__s64 seen = query_newest_row(db), told = seen;
	int err = 0;

	filter.count = 0;
	while (!err) {
		usleep(FOLLOW_US);
		filter.after_row = told;
		filter.upto_row = seen;
		if (seen > told)
			err = query_traces(db, &filter, json ? print_line : print_tree, NULL);
		fflush(stdout);
		told = seen;
		seen = query_newest_row(db);
	}
	return err;
}

static int show(sqlite3 *db, bool json)
{
	size_t count = 1;
	int err;

	if (wanted.follow)
		return follow(db, json);
	err = json ? show_json(db, &count) : query_traces(db, &wanted.filter, print_tree, NULL);
	return err;
}

/* Is it the beginning of an id? */
static bool is_id(const char *word)
{
	size_t length = strlen(word);

	return length && length <= 32 && strspn(word, "0123456789abcdefABCDEF") == length;
}

int command_trace(const struct pins *pins, const struct command_flags *flags)
{
	sqlite3 *db;
	int err;

	(void)pins;
	if (flags->count > 1)
		return command_misused("trace: unexpected argument '%s'", flags->words[1]);
	if (flags->count && !is_id(flags->words[0]))
		return command_misused(
		    "trace: '%s' is not a trace id: expected up to 32 lowercase hex digits",
		    flags->words[0]);
	wanted.filter.trace = flags->count ? flags->words[0] : NULL;
	db = command_open_store();
	if (!db)
		return COMMAND_REFUSED;
	err = show(db, flags->json);
	if (err)
		command_refuse_store(db);
	sqlite3_close(db);
	return err ? COMMAND_REFUSED : COMMAND_OK;
}
