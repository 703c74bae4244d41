// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/profile_output.h"
#include "cmd/profile_read.h"
#include "cmd/profile_write.h"
#include "cmd/store.h"
#include "profile/flame.h"
#include "profile/sources.h"
#include "trace/query_words.h"
#include "trace/store.h"

#define DURATION_NS     (10 * NS_PER_SECOND)
#define DURATION_MAX_NS (3600 * NS_PER_SECOND)
#define HZ              99
#define HZ_MAX          999
#define PAUSE_MS        50
#define SETTLE_MS       1500 /* until the spans of the last requests are stored */
#define ROWS            20   /* of the summary */

/* What the options ask for. */
static struct {
	struct sampler_options sampler;
	struct filter filter;
	const char *file;
	const char *registry;
	const struct profile_format *format;
	const char *tags; /* a file of rules */
	const char *by;
	const char *sampling; /* the last option that says how samples are taken */
	bool ids;
} wanted = {.sampler = {.hz = HZ, .duration_ns = DURATION_NS, .sources = PROFILE_SOURCES_OWN},
	    .registry = REGISTERED_PATH};

static volatile sig_atomic_t interrupted;

static const struct option own_options[] = {
    {"duration", required_argument, NULL, 'd'},
    {"frequency", required_argument, NULL, 'F'},
    {"pid", required_argument, NULL, 'p'},
    {"cgroup", required_argument, NULL, 'G'},
    {"endpoint", required_argument, NULL, 'E'},
    {"bucket", required_argument, NULL, 'B'},
    {"trace", required_argument, NULL, 'T'},
    {"requests", no_argument, NULL, 'R'},
    {"off-cpu", no_argument, NULL, 'O'},
    {"label", required_argument, NULL, 'L'},
    {"no-labels", required_argument, NULL, 'N'},
    {"registry", required_argument, NULL, 'y'},
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'W'},
    {"ids", no_argument, NULL, 'I'},
    {"tags", required_argument, NULL, 'g'},
    {"by", required_argument, NULL, 'Y'},
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
    "  -o, --output FILE      write a profile for `go tool pprof` (.pb.gz), a flame graph (.svg),\n"
    "                         folded stacks (.folded), for speedscope (.json), or OTLP (.otlp)\n"
    "      --format FORMAT    " PROFILE_FORMATS ", whatever the file is called\n"
    "      --ids              in pprof: label each sample with trace_id and span_id\n"
    "      --tags FILE        apply rules to what is written or shown: match REGEX tag NAME, drop\n"
    "                         REGEX, fold REGEX as NAME\n"
    "      --store FILE       the store, which knows the requests (default " STORE_PATH ")\n";

static int set_time(const char *word)
{
	if (query_parse_time(word, &wanted.sampler.duration_ns) || !wanted.sampler.duration_ns ||
	    wanted.sampler.duration_ns > DURATION_MAX_NS)
		return command_misused("--duration %s: expected a time up to an hour with its "
				       "unit: 30s, 5m",
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
	struct filter *filter = &wanted.filter;

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
		return set_time(word);
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
	case 'R':
		wanted.sampler.requests_only = true;
		return COMMAND_OK;
	case 'O':
		wanted.sampler.off_cpu = true;
		return COMMAND_OK;
	case 'o':
		wanted.file = word;
		return COMMAND_OK;
	case 'W':
		return set_format(word);
	case 'g':
		wanted.tags = word;
		return COMMAND_OK;
	case 'Y':
		wanted.by = word;
		return COMMAND_OK;
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

/* The format of the file, by its ending unless it was said. COMMAND_OK or COMMAND_USAGE. */
static int find_format(void)
{
	if (!wanted.file || wanted.format)
		return COMMAND_OK;
	wanted.format = profile_format_of_file(wanted.file);
	if (wanted.format)
		return COMMAND_OK;
	return command_misused("--output %s: its ending tells no format; with --format expected "
			       "is " PROFILE_FORMATS,
			       wanted.file);
}

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void show_progress(const struct samples *samples, __u64 since_ns)
{
	static __u64 shown_s;
	__u64 seconds = since_ns / NS_PER_SECOND;

	if (seconds == shown_s || !isatty(STDERR_FILENO))
		return;
	shown_s = seconds;
	fprintf(stderr, "\r%llu s: %llu samples, %llu of requests ", seconds,
		samples_count(samples), samples_in_requests(samples));
	if (wanted.sampler.off_cpu)
		fprintf(stderr, "and %llu waits ", samples_waits(samples));
}

/* Until the time is over, or somebody has enough. Returns how long samples were taken. */
static __u64 sample(struct sampler *sampler, struct samples *samples)
{
	const __u64 begin_ns = sampler_until_ns(sampler) - wanted.sampler.duration_ns;
	const __u64 begun_ns = clock_now_ns();
	__u64 since_ns = 0;

	signal(SIGINT, on_interrupt);
	while (!interrupted && since_ns < wanted.sampler.duration_ns) {
		pause_ms(PAUSE_MS);
		sampler_read(sampler, samples_take, samples);
		since_ns = clock_now_ns() - begun_ns;
		show_progress(samples, since_ns);
	}
	sampler_stop(sampler);
	sampler_read(sampler, samples_take, samples);
	signal(SIGINT, SIG_DFL);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return sampler_until_ns(sampler) - begin_ns;
}

static void print_label_losses(const struct samples *samples)
{
	const struct labels *labels = samples_labels(samples);

	if (labels->cut)
		fprintf(stderr, "profile: %llu labels were too long, and cut\n", labels->cut);
	if (labels->left_out)
		fprintf(stderr,
			"profile: %llu samples have more labels than the %d that are kept\n",
			labels->left_out, PROFILE_LABELS_MAX);
	if (labels->unnamed)
		fprintf(stderr, "profile: %llu labels were left out: their keys have no names\n",
			labels->unnamed);
	if (labels->conflicts)
		fprintf(stderr, "profile: %llu labels were told in two ways\n", labels->conflicts);
	if (samples_conflicts(samples))
		fprintf(stderr, "profile: %llu samples have ids of two traces\n",
			samples_conflicts(samples));
}

/* What was lost is said, for the shares are of what was not. */
static void print_losses(const struct sampler *sampler, const struct samples *samples)
{
	if (sampler_lost(sampler))
		fprintf(stderr, "profile: %llu samples were lost: the ring was full\n",
			sampler_lost(sampler));
	if (samples_left_out(samples))
		fprintf(stderr, "profile: %llu samples were left out: too many different stacks\n",
			samples_left_out(samples));
	if (named_unread(samples_named(samples)))
		fprintf(stderr,
			"profile: names of functions were not read %llu times: their process had "
			"ended, or "
			"reading took too long\n",
			named_unread(samples_named(samples)));
	print_label_losses(samples);
	if (sampler_waits_left_out(sampler))
		fprintf(stderr,
			"profile: %llu waits were left out: unclear whose they were, or how long\n",
			sampler_waits_left_out(sampler));
	if (!sampler_has_contexts(sampler) && !samples_in_requests(samples))
		fputs("profile: no samples belong to requests: does ctxpropd run?\n", stderr);
}

static int report(struct profile_result *result, const struct files *files, bool json)
{
	struct names *names = names_new(result->samples, files);
	struct flame *root =
	    names ? flame_new(result->samples, names, result->requests, &wanted.filter,
			      wanted.sampler.off_cpu ? NS_PER_SECOND / wanted.sampler.hz : 0)
		  : NULL;
	int exit_code = root ? COMMAND_OK : command_refuse("out of memory");

	result->names = names;
	result->root = root;
	if (root && json)
		exit_code = profile_summary_json(result);
	else if (root)
		profile_summary(result, ROWS);
	if (root && !exit_code && wanted.file)
		exit_code = profile_write(wanted.format, wanted.file, result);
	flame_free(root);
	names_free(names);
	return exit_code;
}

static bool has_requests(const struct samples *samples)
{
	return samples_in_requests(samples) || samples_waits(samples);
}

static int join_requests(struct profile_result *result, const struct files *files, bool json)
{
	/* Without a store the samples are worth something, too. */
	sqlite3 *db = has_requests(result->samples) ? command_open_store() : NULL;
	int exit_code;

	result->requests = requests_read(db, result->from_ns, result->to_ns);
	if (result->requests)
		exit_code = report(result, files, json);
	else
		exit_code = db ? command_refuse_store(db) : command_refuse("out of memory");
	requests_free(result->requests);
	sqlite3_close(db);
	return exit_code;
}

static int run(struct sampler *sampler, const struct registered *registered,
	       const struct tags *tags, bool json)
{
	struct files *files = files_new(sampler);
	struct thread_data *threads =
	    files ? thread_data_new(sampler, files, wanted.sampler.sources, registered) : NULL;
	struct processes *processes = threads ? processes_new(sampler, files, threads) : NULL;
	struct named *named = processes ? named_new() : NULL;
	struct samples *samples = named ? samples_new(processes, named) : NULL;
	struct profile_result result = {.samples = samples,
					.filter = &wanted.filter,
					.from_ns = query_now_ns(),
					.hz = wanted.sampler.hz,
					.ids = wanted.ids,
					.tags = tags,
					.off_cpu = wanted.sampler.off_cpu};
	int exit_code;

	if (!samples) {
		exit_code = command_refuse("out of memory");
	} else {
		wanted.filter.known = samples_labels(samples);
		result.to_ns = result.from_ns + (__s64)sample(sampler, samples);
		result.lost = sampler_lost(sampler) + samples_left_out(samples);
		result.waits_left_out = sampler_waits_left_out(sampler);
		pause_ms(has_requests(samples) ? SETTLE_MS : 0);
		exit_code = join_requests(&result, files, json);
		print_losses(sampler, samples);
	}
	samples_free(samples);
	named_free(named);
	processes_free(processes);
	thread_data_free(threads);
	files_free(files);
	return exit_code;
}

static int take_samples(const struct tags *tags, bool json)
{
	char why[SAMPLER_WHY_MAX];
	static struct registered registered;
	struct sampler *sampler;
	int exit_code, err;

	if (wanted.by)
		return command_misused("profile: there is no --by; profile diff has it");
	if (tags && !wanted.file)
		return command_misused("profile: --tags is for a file: -o is missing");
	err = registered_read(wanted.registry, &registered);
	if (err)
		return command_refuse("profile: %s: %s", wanted.registry, strerror(-err));
	if (sampler_open(&wanted.sampler, &sampler, why))
		return command_refuse("profile: %s", why);
	exit_code = run(sampler, &registered, tags, json);
	sampler_close(sampler);
	return exit_code;
}

static int read_profiles(const struct command_flags *flags, const struct tags *tags)
{
	const struct profile_reading reading = {.output = wanted.file,
						.format = wanted.format,
						.filter = &wanted.filter,
						.tags = tags,
						.by = wanted.by,
						.json = flags->json};

	if (wanted.sampling)
		return command_misused("profile %s: --%s is for sampling", flags->words[0],
				       wanted.sampling);
	return profile_read(&reading, flags->words, flags->count);
}

/* NULL in `ret`: there are none. Returns an exit code. */
static int read_tags(struct tags **ret)
{
	char why[TAGS_WHY_MAX];
	int err;

	*ret = NULL;
	if (!wanted.tags)
		return COMMAND_OK;
	err = tags_read(wanted.tags, ret, why);
	if (!err)
		return COMMAND_OK;
	return command_refuse("--tags %s: %s", wanted.tags, *why ? why : strerror(-err));
}

int command_profile(const struct pins *pins, const struct command_flags *flags)
{
	struct tags *tags;
	int exit_code;

	(void)pins;
	if (flags->count && !profile_is_reading(flags->words[0]))
		return command_misused("profile: unexpected argument '%s'; expected show or diff",
				       flags->words[0]);
	exit_code = find_format();
	if (!exit_code && wanted.file)
		exit_code = profile_check_writable(wanted.file);
	if (!exit_code)
		exit_code = read_tags(&tags);
	if (exit_code)
		return exit_code;
	exit_code = flags->count ? read_profiles(flags, tags) : take_samples(tags, flags->json);
	tags_free(tags);
	return exit_code;
}
