// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/profile_options.h"
#include "cmd/store.h"
#include "profile/take/registered.h"
#include "profile/take/sources.h"
#include "trace/query_words.h"

#define DURATION_NS (10 * NS_PER_SECOND)
#define TIME_MAX_NS (3600 * NS_PER_SECOND)
#define HZ          99
#define HZ_MAX      999

static struct profile_wanted wanted = {
    .sampler = {.hz = HZ, .duration_ns = DURATION_NS, .sources = PROFILE_SOURCES_OWN},
    .registry = REGISTERED_PATH};

static const struct option own_options[] = {
    {"duration", required_argument, NULL, 'd'},
    {"frequency", required_argument, NULL, 'F'},
    {"pid", required_argument, NULL, 'p'},
    {"cgroup", required_argument, NULL, 'G'},
    {"endpoint", required_argument, NULL, 'E'},
    {"bucket", required_argument, NULL, 'B'},
    {"trace", required_argument, NULL, 'T'},
    {"requests", no_argument, NULL, 'R'},
    {"all", no_argument, NULL, 'a'},
    {"off-cpu", no_argument, NULL, 'O'},
    {"label", required_argument, NULL, 'L'},
    {"no-labels", required_argument, NULL, 'N'},
    {"registry", required_argument, NULL, 'y'},
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'W'},
    {"ids", no_argument, NULL, 'I'},
    {"tags", required_argument, NULL, 'g'},
    {"by", required_argument, NULL, 'Y'},
    {"last", required_argument, NULL, 'l'},
    {"before", required_argument, NULL, 'b'},
    COMMAND_STORE_OPTION,
};

const char command_profile_usage[] =
    "  ctxprop profile               sample what the CPUs do, and sum it up by endpoint\n"
    "  ctxprop profile show FILE     the same of a profile that was written (.pb.gz)\n"
    "  ctxprop profile diff FILE FILE    what differs in the second one: functions by their "
    "share,\n"
    "                                with -o as a flame graph in red (more) and blue (less)\n"
    "  ctxprop profile diff FILE --by KEY=ONE,OTHER    the same for two parts of one profile:\n"
    "                                endpoint='GET /a','GET /b' or bucket=p50,p99\n"
    "  ctxprop profile --last TIME   of so long until now, as `ctxpropd --profile` keeps it\n"
    "  ctxprop profile diff --last TIME --before TIME, or --by KEY=ONE,OTHER\n"
    "\n"
    "  -d, --duration TIME    for so long (default 10s); Ctrl-C ends it before\n"
    "  -F, --frequency HZ     so many samples a second on each CPU, up to 999 (default 99)\n"
    "  -p, --pid PID          of this process only\n"
    "      --cgroup PATH      of the processes of this cgroup and those below it\n"
    "      --endpoint PATTERN of requests that fit: '/search*' or 'POST /search*'\n"
    "      --bucket WHICH     of requests that are so slow among those of their endpoint: p50 (up "
    "to\n"
    "                         the median), p90, p99, max (above p99); or some: p99,max\n"
    "      --trace ID         of one trace\n"
    "      --label KEY=VALUE  with a label of the program; VALUE may be a pattern; may be "
    "repeated\n"
    "      --no-labels KINDS  do not read " SOURCES_WORDS "; or some: go,custom\n"
    "      --registry FILE    what `ctxprop labels` has registered (default " REGISTERED_PATH ")\n"
    "      --requests         only threads that work on a request\n"
    "      --off-cpu          what these wait for, too: blocked, or for a CPU\n"
    "      --all              draw what belongs to no request, too, with its share of all\n"
    "  -o, --output FILE      write a profile for `go tool pprof` (.pb.gz), a flame graph (.svg),\n"
    "                         folded stacks (.folded), or OTLP (.otlp)\n"
    "      --format FORMAT    " PROFILE_FORMATS ", whatever the file is called\n"
    "      --ids              in pprof: label each sample with trace_id and span_id\n"
    "      --tags FILE        apply rules to what is written or shown: match REGEX tag NAME, drop\n"
    "                         REGEX, fold REGEX as NAME\n"
    "      --last TIME        what was sampled so long until now, up to an hour: 90s, 10m\n"
    "      --before TIME      of diff: compare that with so long before it\n" COMMAND_STORE_HELP
    "                         which knows the requests; what is kept for --last is beside it\n";

static int set_time(const char *option, const char *word, __u64 *ret_ns)
{
	if (query_parse_time(word, ret_ns) || !*ret_ns || *ret_ns > TIME_MAX_NS)
		return command_misused("--%s %s: expected a time up to an hour: 30s, 5m", option,
				       word);
	return COMMAND_OK;
}

static int set_number(const char *option, const char *word, unsigned long max, unsigned int *ret)
{
	unsigned long number;

	if (number_parse(word, 1, max, &number))
		return command_misused("--%s %s: expected a number from 1 to %lu", option, word,
				       max);
	*ret = (unsigned int)number;
	return COMMAND_OK;
}

static int set_format(const char *word)
{
	wanted.format = profile_format_named(word);
	return wanted.format ? COMMAND_OK
			     : command_misused("--format %s: expected " PROFILE_FORMATS, word);
}

/* One of the parts, or some of them: "p99,max". */
static int set_bucket(const char *words)
{
	char copy[64], *rest, *word;
	enum latency latency;

	if (strlen(words) >= sizeof(copy))
		return command_misused("--bucket %s: expected p50, p90, p99 or max", words);
	text_copy(copy, sizeof(copy), words);
	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (latency_parse(word, &latency))
			return command_misused("--bucket %s: expected p50, p90, p99 or max", word);
		wanted.filter.latency[latency] = wanted.filter.has_latency = true;
	}
	return COMMAND_OK;
}

static int set_label(const char *words)
{
	struct message_filter *filter = &wanted.filter;

	if (!strchr(words, '=') || *words == '=')
		return command_misused("--label %s: expected KEY=VALUE", words);
	if (filter->labels == PROFILE_LABELS_MAX)
		return command_misused("--label %s: there are at most %d", words,
				       PROFILE_LABELS_MAX);
	filter->label[filter->labels++] = words;
	return COMMAND_OK;
}

static int set_sources(const char *words)
{
	if (sources_without(words, &wanted.sampler.sources))
		return command_misused("--no-labels %s: expected " SOURCES_WORDS, words);
	return COMMAND_OK;
}

static int set_trace(const char *word)
{
	if (!*word || strspn(word, "0123456789abcdef") != strlen(word) || strlen(word) > 32)
		return command_misused("--trace %s: expected the first hex digits of an id", word);
	wanted.filter.trace = word;
	return COMMAND_OK;
}

static const char *name_of(int letter)
{
	for (size_t i = 0; i < sizeof(own_options) / sizeof(own_options[0]); i++)
		if (own_options[i].val == letter)
			return own_options[i].name;
	return "";
}

static int set_option(int letter, const char *word)
{
	/* Those that are for samples that are taken, not for what is read. */
	if (strchr("dFpGRONyI", letter))
		wanted.sampling = name_of(letter);
	switch (letter) {
	case 'd':
		return set_time("duration", word, &wanted.sampler.duration_ns);
	case 'F':
		return set_number("frequency", word, HZ_MAX, &wanted.sampler.hz);
	case 'p':
		return set_number("pid", word, 4194304, &wanted.sampler.tgid);
	case 'G':
		wanted.sampler.cgroup = word;
		return COMMAND_OK;
	case 'E':
		wanted.filter.endpoint = word;
		return COMMAND_OK;
	case 'B':
		return set_bucket(word);
	case 'T':
		return set_trace(word);
	case 'L':
		return set_label(word);
	case 'N':
		return set_sources(word);
	case 'y':
		wanted.registry = word;
		return COMMAND_OK;
	case 'I':
		wanted.ids = true;
		return COMMAND_OK;
	case 'a':
		wanted.all = true;
		return COMMAND_OK;
	case 'R':
		wanted.sampler.requests_only = true;
		return COMMAND_OK;
	case 'O':
		wanted.sampler.off_cpu = true;
		return COMMAND_OK;
	case 'o':
		wanted.output = word;
		return COMMAND_OK;
	case 'W':
		return set_format(word);
	case 'g':
		wanted.tags_file = word;
		return COMMAND_OK;
	case 'Y':
		wanted.by = word;
		return COMMAND_OK;
	case 'l':
		wanted.last = word;
		return set_time("last", word, &wanted.last_ns);
	case 'b':
		wanted.before = word;
		return set_time("before", word, &wanted.before_ns);
	default:
		command_set_store(word);
		return COMMAND_OK;
	}
}

const struct command_options command_profile_options = {
    .list = own_options,
    .count = sizeof(own_options) / sizeof(own_options[0]),
    .letters = "d:F:p:o:",
    .set = set_option,
};

int profile_options(struct profile_wanted **ret)
{
	*ret = &wanted;
	if (!wanted.output || wanted.format)
		return COMMAND_OK;
	wanted.format = profile_format_of_file(wanted.output);
	if (wanted.format)
		return COMMAND_OK;
	return command_misused("--output %s: its ending tells no format; with --format expected "
			       "is " PROFILE_FORMATS,
			       wanted.output);
}
