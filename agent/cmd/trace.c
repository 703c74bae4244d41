// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <jansson.h>

#include "base/clock.h"
#include "base/number.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/store.h"
#include "cmd/waterfall.h"
#include "trace/query.h"
#include "trace/span.h"
#include "trace/store.h"

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
    "      --last TIME        that began within this time: 5m, 30s\n"
    "      --store FILE       the store (default " STORE_PATH ")\n";

/* A number with a unit of time. Returns 0 or -EINVAL. */
static int parse_time(const char *text, __u64 *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) != 0 || end == text || !(number >= 0) ||
		    number * units[i].ns > 1e18)
			continue;
		*ret_ns = (__u64)(number * units[i].ns);
		return 0;
	}
	return -EINVAL;
}

/* "503", or "5xx". Returns 0 or -EINVAL. */
static int parse_status(const char *text)
{
	unsigned long status;

	if (strlen(text) == 3 && *text >= '1' && *text <= '5' && !strcmp(text + 1, "xx")) {
		wanted.filter.status_from = (unsigned int)(*text - '0') * 100;
		wanted.filter.status_to = wanted.filter.status_from + 99;
		return 0;
	}
	if (number_parse(text, 100, 599, &status))
		return -EINVAL;
	wanted.filter.status_from = wanted.filter.status_to = (unsigned int)status;
	return 0;
}

static __s64 wall_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * (__s64)NS_PER_SECOND + now.tv_nsec;
}

static int set_last(const char *text)
{
	__u64 ns;

	if (parse_time(text, &ns))
		return command_misused("--last %s: expected a time with its unit: 30s, 5m, 2h",
				       text);
	wanted.filter.since_ns = wall_clock_ns() - (__s64)ns;
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
		if (parse_time(word, &wanted.filter.slow_ns))
			return command_misused(
			    "--slow %s: expected a time with its unit: 100ms, 1.5s", word);
		return COMMAND_OK;
	case 'T':
		if (parse_status(word))
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

/* NULL is left out. */
static void set_text(json_t *object, const char *name, const char *text)
{
	if (text)
		json_object_set_new(object, name, json_string(text));
}

static void set_known(json_t *object, const char *name, __s64 number)
{
	if (number)
		json_object_set_new(object, name, json_integer(number));
}

static json_t *span_json(const struct query_span *span)
{
	json_t *object = json_object();

	set_text(object, "span_id", span->span_id);
	set_text(object, "parent_id", span->parent_id[0] ? span->parent_id : NULL);
	set_text(object, "kind", span_kind_name(span->kind));
	set_text(object, "service", span->service);
	set_text(object, "container", span->container);
	set_text(object, "method", span->method);
	set_text(object, "path", span->path);
	set_text(object, "route", span->route);
	set_text(object, "host", span->host);
	set_text(object, "user_agent", span->agent);
	set_known(object, "status", span->status);
	set_text(object, "outcome", span->outcome);
	json_object_set_new(object, "error", json_boolean(span->error));
	json_object_set_new(object, "start_ns", json_integer(span->start_ns));
	json_object_set_new(object, "duration_ns", json_integer(span->duration_ns));
	set_known(object, "first_byte_ns", span->first_byte_ns);
	set_text(object, "local", span->local);
	set_text(object, "remote", span->remote);
	set_known(object, "pid", span->pid);
	set_known(object, "tid", span->tid);
	set_known(object, "request_bytes", span->request_bytes);
	set_known(object, "response_bytes", span->response_bytes);
	json_object_set_new(object, "reused", json_boolean(span->reused));
	json_object_set_new(object, "forwarded", json_boolean(span->forwarded));
	set_text(object, "header", span->header);
	set_text(object, "evidence", span->evidence);
	set_text(object, "veto", span->veto);
	return object;
}

static int add_json(const struct query_trace *trace, void *data)
{
	json_t *object = json_object(), *spans = json_array();

	for (size_t i = 0; i < trace->count; i++)
		json_array_append_new(spans, span_json(&trace->span[i]));
	set_text(object, "trace_id", trace->id);
	json_object_set_new(object, "spans", spans);
	json_array_append_new(data, object);
	return 0;
}

/* One document to a line. */
static int print_line(const struct query_trace *trace, void *data)
{
	json_t *one = json_array();

	(void)data;
	add_json(trace, one);
	json_dumpf(json_array_get(one, 0), stdout, JSON_COMPACT);
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

	if (wanted.follow && !wanted.filter.since_ns)
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
