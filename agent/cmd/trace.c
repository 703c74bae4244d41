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

static const struct option own_options[] = {
    {"follow", no_argument, NULL, 'f'},
    {"number", required_argument, NULL, 'n'},
    {"slow", required_argument, NULL, 'S'},
    {"status", required_argument, NULL, 'T'},
    {"endpoint", required_argument, NULL, 'E'},
    {"service", required_argument, NULL, 'V'},
    {"last", required_argument, NULL, 'L'},
    {"errors", no_argument, NULL, 'R'},
    COMMAND_STORE_OPTION,
};

const char command_trace_usage[] =
    "  ctxprop trace                 the newest traces, each as a tree of its spans\n"
    "  ctxprop trace ID              one trace; the first digits of its id are enough\n"
    "\n"
    "  -f, --follow           go on with those that come\n"
    "  -n, --number N         at most so many (default 10)\n"
    "      --slow TIME        with a span of at least so long: 100ms, 1.5s\n"
    "      --status S         with a span of this status: 503, or 5xx\n"
    "      --errors           with a span that went wrong\n"
    "      --endpoint PATTERN with a span of such a path: '/api/*'\n"
    "      --service NAME     with a span of this service\n"
    "      --last TIME        that began within this time: 5m, 30s\n" COMMAND_STORE_HELP;

static int set_last(const char *text)
{
	__u64 ns;

	if (query_parse_time(text, &ns))
		return command_misused("--last %s: expected a time: 30s, 5m, 2h", text);
	wanted.filter.since_ns = query_now_ns() - (__s64)ns;
	return COMMAND_OK;
}

static int set_number(const char *text)
{
	unsigned long number;

	if (number_parse(text, 1, TRACES_MAX, &number))
		return command_misused("--number %s: expected a number from 1 to %d", text,
				       TRACES_MAX);
	wanted.filter.count = (unsigned int)number;
	return COMMAND_OK;
}

static int set_option(int letter, const char *word)
{
	switch (letter) {
	case 'f':
		wanted.follow = true;
		return COMMAND_OK;
	case 'n':
		return set_number(word);
	case 'S':
		if (query_parse_time(word, &wanted.filter.slow_ns))
			return command_misused("--slow %s: expected a time: 100ms, 1.5s", word);
		return COMMAND_OK;
	case 'T':
		if (query_parse_status(word, &wanted.filter))
			return command_misused("--status %s: expected a status (503) or a class of "
					       "them (5xx)",
					       word);
		return COMMAND_OK;
	case 'E':
		wanted.filter.endpoint = word;
		return COMMAND_OK;
	case 'V':
		wanted.filter.service = word;
		return COMMAND_OK;
	case 'R':
		wanted.filter.errors = true;
		return COMMAND_OK;
	case 'L':
		return set_last(word);
	default:
		command_set_store(word);
		return COMMAND_OK;
	}
}

const struct command_options command_trace_options = {
    .list = own_options,
    .count = sizeof(own_options) / sizeof(own_options[0]),
    .letters = "fn:",
    .set = set_option,
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

/* What comes is told a moment later, when its other spans have come, too. */
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
		return command_misused("trace: '%s' is no trace id: expected up to 32 hex digits",
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
