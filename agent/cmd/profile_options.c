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
#define PID_MAX     4194304

static struct profile_wanted wanted = {
    .sampler = {.hz = HZ, .duration_ns = DURATION_NS, .sources = PROFILE_SOURCES_OWN},
    .registry = REGISTERED_PATH};

const char command_profile_usage[] =
    "  ctxprop profile          sample the CPUs, and sum up the samples by endpoint\n"
    "  ctxprop profile show FILE\n"
    "                           sum up a profile that was written (.pb.gz)\n"
    "  ctxprop profile diff FILE FILE\n"
    "                           what differs in the second one: functions by their share, with\n"
    "                           -o as a flame graph in red (more) and blue (less)\n"
    "  ctxprop profile diff FILE --by KEY=ONE,OTHER\n"
    "                           the same for two parts of one profile:\n"
    "                           endpoint='GET /a','GET /b' or bucket=p50,p99\n"
    "  ctxprop profile --last TIME\n"
    "                           this long until now, as recorded by `ctxpropd --profile`\n"
    "  ctxprop profile diff --last TIME --before TIME, or --by KEY=ONE,OTHER\n";

static int read_time(const struct option_row *row, const char *word, __u64 *ret_ns)
{
	if (query_parse_time(word, ret_ns) || !*ret_ns || *ret_ns > TIME_MAX_NS)
		return command_misused("--%s %s: expected a time up to an hour: 30s, 5m", row->name,
				       word);
	return COMMAND_OK;
}

static int set_duration(const struct option_row *row, const char *word)
{
	return read_time(row, word, &wanted.sampler.duration_ns);
}

static int set_last(const struct option_row *row, const char *word)
{
	return read_time(row, word, &wanted.last_ns);
}

static int set_before(const struct option_row *row, const char *word)
{
	return read_time(row, word, &wanted.before_ns);
}

static int read_number(const struct option_row *row, const char *word, unsigned long max,
		       unsigned int *ret)
{
	unsigned long number;

	if (number_parse(word, 1, max, &number))
		return command_misused("--%s %s: expected a number from 1 to %lu", row->name, word,
				       max);
	*ret = (unsigned int)number;
	return COMMAND_OK;
}

static int set_frequency(const struct option_row *row, const char *word)
{
	return read_number(row, word, HZ_MAX, &wanted.sampler.hz);
}

static int set_pid(const struct option_row *row, const char *word)
{
	return read_number(row, word, PID_MAX, &wanted.sampler.tgid);
}

static int set_format(const struct option_row *row, const char *word)
{
	wanted.format = profile_format_named(word);
	return wanted.format
		   ? COMMAND_OK
		   : command_misused("--%s %s: expected " PROFILE_FORMATS, row->name, word);
}

/* One of the parts, or some of them: "p99,max". */
static int set_bucket(const struct option_row *row, const char *words)
{
	char copy[64], *rest, *word;
	enum latency latency;

	if (strlen(words) >= sizeof(copy))
		return command_misused("--%s %s: expected p50, p90, p99 or max", row->name, words);
	text_copy(copy, sizeof(copy), words);
	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (latency_parse(word, &latency))
			return command_misused("--bucket %s: expected p50, p90, p99 or max", word);
		wanted.filter.latency[latency] = wanted.filter.has_latency = true;
	}
	return COMMAND_OK;
}

static int set_label(const struct option_row *row, const char *words)
{
	struct message_filter *filter = &wanted.filter;

	if (!strchr(words, '=') || *words == '=')
		return command_misused("--%s %s: expected KEY=VALUE", row->name, words);
	if (filter->labels == PROFILE_LABELS_MAX)
		return command_misused("--%s %s: there are at most %d", row->name, words,
				       PROFILE_LABELS_MAX);
	filter->label[filter->labels++] = words;
	return COMMAND_OK;
}

static int set_sources(const struct option_row *row, const char *words)
{
	if (sources_without(words, &wanted.sampler.sources))
		return command_misused("--%s %s: expected " SOURCES_WORDS, row->name, words);
	return COMMAND_OK;
}

static int set_trace(const struct option_row *row, const char *word)
{
	if (!*word || strspn(word, "0123456789abcdef") != strlen(word) || strlen(word) > 32)
		return command_misused("--%s %s: expected the first lowercase hex digits of an id",
				       row->name, word);
	wanted.filter.trace = word;
	return COMMAND_OK;
}

/* `given`: set by options that are for taking samples, not for reading files. */
const struct option_row command_profile_options[] = {
    {"duration", 'd', "TIME", "sample for this long (default 10s); Ctrl-C ends it earlier",
     .set = set_duration, .given = &wanted.sampling},
    {"frequency", 'F', "HZ", "samples per second on each CPU, up to 999 (default 99)",
     .set = set_frequency, .given = &wanted.sampling},
    {"pid", 'p', "PID", "only this process", .set = set_pid, .given = &wanted.sampling},
    {"cgroup", 0, "PATH", "only processes of this cgroup and those below it",
     .text = &wanted.sampler.cgroup, .given = &wanted.sampling},
    {"endpoint", 0, "PATTERN", "only requests that match: '/search*' or 'POST /search*'",
     .text = &wanted.filter.endpoint},
    {"bucket", 0, "p50|p90|p99|max",
     "only requests that are this slow for their endpoint: p50 (up to the median), p90, p99, max "
     "(above p99); several: p99,max",
     .set = set_bucket},
    {"trace", 0, "ID", "only this trace", .set = set_trace},
    {"label", 0, "KEY=VALUE",
     "only samples with this label; VALUE may be a pattern; may be repeated", .set = set_label},
    {"no-labels", 0, "otel|elastic|go|custom|registered|all",
     "do not read labels of these kinds; several: go,custom", .set = set_sources,
     .given = &wanted.sampling},
    {"registry", 0, "FILE", "what `ctxprop labels` has registered (default " REGISTERED_PATH ")",
     .text = &wanted.registry, .given = &wanted.sampling},
    {"requests", 0, NULL, "only threads that work on a request",
     .flag = &wanted.sampler.requests_only, .given = &wanted.sampling},
    {"off-cpu", 0, NULL, "also what they wait for: blocked, or for a CPU",
     .flag = &wanted.sampler.off_cpu, .given = &wanted.sampling},
    {"all", 0, NULL, "also what belongs to no request, with its share of all", .flag = &wanted.all},
    {"output", 'o', "FILE",
     "write a profile for `go tool pprof` (.pb.gz), a flame graph (.svg), folded stacks "
     "(.folded), or OTLP (.otlp)",
     .text = &wanted.output},
    {"format", 0, "pprof|svg|folded|otlp", "the format, whatever FILE is called",
     .set = set_format},
    {"ids", 0, NULL, "in pprof: label each sample with trace_id and span_id", .flag = &wanted.ids,
     .given = &wanted.sampling},
    {"tags", 0, "FILE",
     "apply rules to what is written or shown: match REGEX tag NAME, drop REGEX, fold REGEX as "
     "NAME",
     .text = &wanted.tags_file},
    {"by", 0, "KEY=ONE,OTHER", "of diff: compare two parts of one profile", .text = &wanted.by},
    {"last", 0, "TIME", "what was sampled this long until now, up to an hour: 90s, 10m",
     .text = &wanted.last, .set = set_last},
    {"before", 0, "TIME", "of diff: compare it with this long before it", .text = &wanted.before,
     .set = set_before},
    COMMAND_STORE_OPTION,
    {},
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
