// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/profile_summary.h"
#include "cmd/profile_servers.h"
#include "cmd/profile_take.h"
#include "cmd/store.h"
#include "profile/registered.h"
#include "trace/query_words.h"

#define PAUSE_MS  50
#define SETTLE_MS 1500 /* until the spans of the last requests are stored */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void show_progress(const struct samples *samples, bool off_cpu, __u64 since_ns)
{
	static __u64 shown_s;
	__u64 seconds = since_ns / NS_PER_SECOND;

	if (seconds == shown_s || !isatty(STDERR_FILENO))
		return;
	shown_s = seconds;
	fprintf(stderr, "\r%llu s: %llu samples, %llu of requests ", seconds,
		samples_count(samples), samples_in_requests(samples));
	if (off_cpu)
		fprintf(stderr, "and %llu waits ", samples_waits(samples));
}

/* Until the time is over, or Ctrl-C. Returns how long samples were taken. */
static __u64 sample(struct sampler *sampler, const struct sampler_options *options,
		    struct samples *samples)
{
	const __u64 begin_ns = sampler_until_ns(sampler) - options->duration_ns;
	const __u64 begun_ns = clock_now_ns();
	__u64 since_ns = 0;

	signal(SIGINT, on_interrupt);
	while (!interrupted && since_ns < options->duration_ns) {
		pause_ms(PAUSE_MS);
		sampler_read(sampler, samples_take, samples);
		since_ns = clock_now_ns() - begun_ns;
		show_progress(samples, options->off_cpu, since_ns);
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
		fprintf(stderr, "profile: %llu labels have two values\n", labels->conflicts);
	if (samples_conflicts(samples))
		fprintf(stderr, "profile: %llu samples have ids of two traces\n",
			samples_conflicts(samples));
}

/* Report losses: shares refer to the remaining samples. */
static void print_losses(const struct sampler *sampler, const struct samples *samples,
			 const struct proc_reader *reader)
{
	if (proc_reader_given_up(reader))
		fprintf(stderr,
			"profile: %llu times a process could not be read: its memory or files did "
			"not respond\n",
			proc_reader_given_up(reader));
	if (sampler_lost(sampler))
		fprintf(stderr, "profile: %llu samples were lost: the ring was full\n",
			sampler_lost(sampler));
	if (samples_left_out(samples))
		fprintf(stderr, "profile: %llu samples were left out: too many different stacks\n",
			samples_left_out(samples));
	if (named_unread(samples_named(samples)))
		fprintf(stderr,
			"profile: names of functions were not read %llu times: their process had "
			"ended, or reading took too long\n",
			named_unread(samples_named(samples)));
	print_label_losses(samples);
	if (sampler_waits_left_out(sampler))
		fprintf(
		    stderr,
		    "profile: %llu waits were left out: their thread or length is not certain\n",
		    sampler_waits_left_out(sampler));
	if (!sampler_has_contexts(sampler) && !samples_in_requests(samples))
		fputs("profile: no samples belong to requests: does ctxpropd run?\n", stderr);
}

/* Of a picture what belongs to no request, if there is something else; the caller frees it. */
static struct flame *leave_out_none(struct flame *root, const struct profile_wanted *wanted)
{
	const struct flame *none = flame_child(root, ENDPOINT_NONE);

	if (wanted->all || !profile_format_is_picture(wanted->format) || !none ||
	    none->total == root->total)
		return NULL;
	return flame_take_out(root, ENDPOINT_NONE);
}

/* `wanted`: of whom, how, and where it goes. */
static int report(struct profile_result *result, const struct profile_wanted *wanted,
		  const struct files *files, bool json)
{
	struct names *names = names_new(result->samples, files);
	struct flame *root =
	    names ? flame_new(result->samples, names, result->requests, result->filter,
			      result->off_cpu ? NS_PER_SECOND / result->hz : 0)
		  : NULL;
	int exit_code = root ? COMMAND_OK : command_refuse("out of memory");

	struct flame *none = NULL;

	result->names = names;
	result->root = root;
	if (root && json)
		exit_code = profile_summary_json(result);
	else if (root)
		profile_summary(result);
	if (root && !exit_code && wanted->file) {
		none = leave_out_none(root, wanted);
		exit_code = profile_write(wanted->format, wanted->file, result);
	}
	flame_free(none);
	flame_free(root);
	names_free(names);
	return exit_code;
}

static bool has_requests(const struct samples *samples)
{
	return samples_in_requests(samples) || samples_waits(samples);
}

static int join_requests(struct profile_result *result, const struct profile_wanted *wanted,
			 const struct files *files, bool json)
{
	/* Samples are useful without a store, too. */
	sqlite3 *db = has_requests(result->samples) ? command_open_store() : NULL;
	int exit_code;

	result->requests = requests_read(db, result->from_ns, result->to_ns);
	if (result->requests)
		exit_code = report(result, wanted, files, json);
	else
		exit_code = db ? command_refuse_store(db) : command_refuse("out of memory");
	requests_free(result->requests);
	sqlite3_close(db);
	return exit_code;
}

static int run(struct profile_wanted *wanted, struct sampler *sampler,
	       const struct registered *registered, const struct tags *tags, bool json)
{
	struct proc_reader *reader = proc_reader_new();
	struct files *files = reader ? files_new(sampler) : NULL;
	struct thread_data *threads =
	    files ? thread_data_new(sampler, files, wanted->sampler.sources, registered) : NULL;
	struct processes *processes =
	    threads ? processes_new(sampler, files, threads, reader) : NULL;
	struct named *named = processes ? named_new() : NULL;
	struct samples *samples = named ? samples_new(processes, named) : NULL;
	struct profile_result result = {.samples = samples,
					.filter = &wanted->filter,
					.from_ns = query_now_ns(),
					.hz = wanted->sampler.hz,
					.ids = wanted->ids,
					.all = wanted->all,
					.partial = wanted->sampler.tgid || wanted->sampler.cgroup,
					.tags = tags,
					.off_cpu = wanted->sampler.off_cpu};
	int exit_code;

	if (!samples) {
		exit_code = command_refuse("out of memory");
	} else {
		wanted->filter.known = samples_labels(samples);
		if (!wanted->sampler.requests_only)
			result.servers = samples_servers(samples);
		result.to_ns = result.from_ns + (__s64)sample(sampler, &wanted->sampler, samples);
		result.lost = sampler_lost(sampler) + samples_left_out(samples);
		result.waits_left_out = sampler_waits_left_out(sampler);
		pause_ms(has_requests(samples) ? SETTLE_MS : 0);
		exit_code = join_requests(&result, wanted, files, json);
		profile_print_servers(result.servers);
		print_losses(sampler, samples, reader);
	}
	samples_free(samples);
	named_free(named);
	processes_free(processes);
	thread_data_free(threads);
	files_free(files);
	proc_reader_free(reader);
	return exit_code;
}

int profile_take(struct profile_wanted *wanted, const struct tags *tags, bool json)
{
	char why[SAMPLER_WHY_MAX];
	static struct registered registered;
	struct sampler *sampler;
	int exit_code, err;

	if (wanted->by || wanted->before)
		return command_misused("profile: there is no --%s; profile diff has it",
				       wanted->by ? "by" : "before");
	if (tags && !wanted->file)
		return command_misused("profile: --tags is for a file: -o is missing");
	err = registered_read(wanted->registry, &registered);
	if (err)
		return command_refuse("profile: %s: %s", wanted->registry, strerror(-err));
	command_store_path(); /* of the daemon that runs now */
	if (sampler_open(&wanted->sampler, &sampler, why))
		return command_refuse("profile: %s", why);
	exit_code = run(wanted, sampler, &registered, tags, json);
	sampler_close(sampler);
	return exit_code;
}
