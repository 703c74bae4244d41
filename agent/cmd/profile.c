// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/number.h"
#include "cmd/command.h"
#include "cmd/safe.h"
#include "cmd/store.h"
#include "profile/flame.h"
#include "trace/query_words.h"
#include "trace/store.h"

#define DURATION_NS     (10 * NS_PER_SECOND)
#define DURATION_MAX_NS (3600 * NS_PER_SECOND)
#define HZ              99
#define HZ_MAX          999
#define PAUSE_MS        50
#define SETTLE_MS       1500 /* until the spans of the last requests are stored */
#define ROWS            20   /* of the summary */

enum format { FORMAT_NONE, FORMAT_SVG, FORMAT_FOLDED };

static const struct {
	const char *name;
	enum format format;
	void (*write)(const struct flame *root, FILE *out);
} formats[] = {{"svg", FORMAT_SVG, NULL}, {"folded", FORMAT_FOLDED, flame_write_folded}};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* What the options ask for. */
static struct {
	struct sampler_options sampler;
	__u64 duration_ns;
	const char *endpoint, *file;
	enum format format;
} wanted = {.sampler = {.hz = HZ}, .duration_ns = DURATION_NS};

static volatile sig_atomic_t interrupted;

static const struct option own_options[] = {
    {"duration", required_argument, NULL, 'd'},
    {"frequency", required_argument, NULL, 'F'},
    {"pid", required_argument, NULL, 'p'},
    {"cgroup", required_argument, NULL, 'G'},
    {"endpoint", required_argument, NULL, 'E'},
    {"requests", no_argument, NULL, 'R'},
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'W'},
    COMMAND_STORE_OPTION,
};

const char command_profile_usage[] =
    "  ctxprop profile               sample what the CPUs do, and sum it up by endpoint\n"
    "\n"
    "  -d, --duration TIME    for so long (default 10s); Ctrl-C ends it before\n"
    "  -F, --frequency HZ     so many samples a second on each CPU, up to 999 (default 99)\n"
    "  -p, --pid PID          of this process only\n"
    "      --cgroup PATH      of the processes of this cgroup and those below it\n"
    "      --endpoint PATTERN of requests that fit: '/search*' or 'POST /search*'\n"
    "      --requests         only threads that work on a request\n"
    "  -o, --output FILE      write a flame graph (.svg), or folded stacks (.folded)\n"
    "      --format FORMAT    svg or folded, whatever the file is called\n"
    "      --store FILE       the store, which knows the requests (default " STORE_PATH ")\n";

static int set_time(const char *word)
{
	if (query_parse_time(word, &wanted.duration_ns) || !wanted.duration_ns ||
	    wanted.duration_ns > DURATION_MAX_NS)
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
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(word, formats[i].name)) {
			wanted.format = formats[i].format;
			return COMMAND_OK;
		}
	return command_misused("--format %s: expected svg or folded", word);
}

static int set_option(int letter, const char *word)
{
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
		wanted.endpoint = word;
		return COMMAND_OK;
	case 'R':
		wanted.sampler.requests_only = true;
		return COMMAND_OK;
	case 'o':
		wanted.file = word;
		return COMMAND_OK;
	case 'W':
		return set_format(word);
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
	const char *dot = wanted.file ? strrchr(wanted.file, '.') : NULL;

	if (!wanted.file || wanted.format != FORMAT_NONE)
		return COMMAND_OK;
	for (size_t i = 0; dot && i < FORMATS; i++)
		if (!strcmp(dot + 1, formats[i].name))
			wanted.format = formats[i].format;
	if (wanted.format != FORMAT_NONE)
		return COMMAND_OK;
	return command_misused("--output %s: expected a name that ends with .svg or .folded, or "
			       "--format",
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

static __s64 wall_now_ns(void)
{
	return query_now_ns();
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
}

/* Until the time is over, or somebody has enough. */
static void sample(struct sampler *sampler, struct samples *samples)
{
	const __u64 begin_ns = clock_now_ns();
	__u64 since_ns = 0;

	signal(SIGINT, on_interrupt);
	while (!interrupted && since_ns < wanted.duration_ns) {
		__u64 left_ms = (wanted.duration_ns - since_ns) / 1000000 + 1;

		pause_ms(left_ms < PAUSE_MS ? (long)left_ms : PAUSE_MS);
		sampler_read(sampler, samples_take, samples);
		since_ns = clock_now_ns() - begin_ns;
		show_progress(samples, since_ns);
	}
	sampler_stop(sampler);
	sampler_read(sampler, samples_take, samples);
	signal(SIGINT, SIG_DFL);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static int compare_endpoints(const void *a, const void *b)
{
	const struct endpoint *first = a, *second = b;

	return (first->samples < second->samples) - (first->samples > second->samples);
}

static void print_endpoint(const struct endpoint *endpoint, __u64 all)
{
	double ms = 1000.0 * (double)endpoint->samples / wanted.sampler.hz;

	printf("%8llu %6.1f%% %10.0f ", endpoint->samples,
	       100.0 * (double)endpoint->samples / (double)(all ? all : 1), ms);
	if (endpoint->requests)
		printf("%10llu %12.3f  ", endpoint->requests, ms / (double)endpoint->requests);
	else
		printf("%10s %12s  ", "-", "-");
	safe_print(endpoint->service);
	printf("%s", *endpoint->service ? " " : "");
	safe_print(endpoint->name);
	putchar('\n');
}

/* Those with samples, the most first; their texts are the requests'. Returns how many. */
static size_t sort_endpoints(const struct requests *requests, struct endpoint **ret_sorted)
{
	const struct endpoint *first = requests_endpoints(requests);
	struct endpoint *sorted;
	size_t count = 0;

	for (const struct endpoint *endpoint = first; endpoint; endpoint = endpoint->next)
		count += endpoint->samples > 0;
	sorted = calloc(count + 1, sizeof(*sorted));
	*ret_sorted = sorted;
	if (!sorted)
		return 0;
	for (const struct endpoint *endpoint = first; endpoint; endpoint = endpoint->next)
		if (endpoint->samples)
			*sorted++ = *endpoint;
	qsort(*ret_sorted, count, sizeof(*sorted), compare_endpoints);
	return count;
}

static void print_summary(const struct requests *requests)
{
	struct endpoint *sorted;
	size_t count = sort_endpoints(requests, &sorted);
	__u64 all = 0;

	for (size_t i = 0; i < count; i++)
		all += sorted[i].samples;
	printf("%8s %7s %10s %10s %12s  %s\n", "SAMPLES", "SHARE", "CPU MS", "REQUESTS",
	       "MS/REQUEST", "ENDPOINT");
	for (size_t i = 0; i < count && i < ROWS; i++)
		print_endpoint(&sorted[i], all);
	free(sorted);
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
	if (!sampler_has_contexts(sampler))
		fputs("profile: no samples belong to requests: does ctxpropd run?\n", stderr);
}

static int write_to(FILE *out, const struct flame *root)
{
	char title[128];

	snprintf(title, sizeof(title), "CPU by endpoint: %llu samples at %u Hz", root->total,
		 wanted.sampler.hz);
	if (wanted.format == FORMAT_SVG)
		flame_write_svg(root, title, out);
	else
		flame_write_folded(root, out);
	return ferror(out) ? -EIO : 0;
}

/* Beside, then under its name: there is never half a file. */
static int write_file(const struct flame *root)
{
	char beside[4096];
	FILE *out;
	int err;

	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", wanted.file) >= (int)sizeof(beside))
		return command_refuse("--output: the name is too long");
	int fd = mkstemp(beside);

	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		return command_refuse("%s: %s", wanted.file, strerror(errno));
	err = fchmod(fd, 0644) ? -errno : write_to(out, root);
	if (fclose(out) && !err)
		err = -errno;
	if (!err && rename(beside, wanted.file))
		err = -errno;
	if (!err)
		return COMMAND_OK;
	unlink(beside);
	return command_refuse("%s: %s", wanted.file, strerror(-err));
}

static int report(const struct samples *samples, const struct files *files,
		  struct requests *requests)
{
	struct names *names = names_new(samples, files);
	struct flame *root = names ? flame_new(samples, names, requests, wanted.endpoint) : NULL;
	int exit_code = root ? COMMAND_OK : command_refuse("out of memory");

	if (root)
		print_summary(requests);
	if (root && wanted.file)
		exit_code = write_file(root);
	flame_free(root);
	names_free(names);
	return exit_code;
}

/* Requests are in the store a moment after they have ended. */
static int join_requests(const struct samples *samples, const struct files *files, __s64 from_ns,
			 __s64 to_ns)
{
	sqlite3 *db = samples_in_requests(samples) ? command_open_store() : NULL;
	struct requests *requests = requests_read(db, from_ns, to_ns);
	int exit_code;

	if (requests)
		exit_code = report(samples, files, requests);
	else
		exit_code = db ? command_refuse_store(db) : command_refuse("out of memory");
	requests_free(requests);
	sqlite3_close(db);
	return exit_code;
}

static int run(struct sampler *sampler)
{
	struct files *files = files_new(sampler);
	struct processes *processes = files ? processes_new(sampler, files) : NULL;
	struct samples *samples = processes ? samples_new(processes) : NULL;
	const __s64 from_ns = wall_now_ns();
	int exit_code;

	if (!samples) {
		exit_code = command_refuse("out of memory");
	} else {
		sample(sampler, samples);
		__s64 to_ns = wall_now_ns();

		pause_ms(samples_in_requests(samples) ? SETTLE_MS : 0);
		exit_code = join_requests(samples, files, from_ns, to_ns);
		print_losses(sampler, samples);
	}
	samples_free(samples);
	processes_free(processes);
	files_free(files);
	return exit_code;
}

int command_profile(const struct pins *pins, const struct command_flags *flags)
{
	char why[SAMPLER_WHY_MAX];
	struct sampler *sampler;
	int exit_code;

	(void)pins;
	if (flags->count)
		return command_misused("profile: unexpected argument '%s'", flags->words[0]);
	exit_code = find_format();
	if (exit_code)
		return exit_code;
	if (sampler_open(&wanted.sampler, &sampler, why))
		return command_refuse("profile: %s", why);
	exit_code = run(sampler);
	sampler_close(sampler);
	return exit_code;
}
