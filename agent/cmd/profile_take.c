// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <jansson.h>

#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/profile_show.h"
#include "cmd/profile_source.h"
#include "cmd/profile_take.h"
#include "cmd/store.h"
#include "profile/message/counts.h"
#include "profile/take/registered.h"
#include "profile/take/samples_message.h"
#include "trace/query_words.h"

#define PAUSE_MS  50
#define SETTLE_MS 1500 /* until the spans of the last requests are stored */

/* What is taken, and since when (ns since 1970). */
struct taking {
	struct profiler *profiler;
	struct samples *samples;
	__s64 from_ns, duration_ns;
};

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
	const struct samples_counts *counts = samples_counts(samples);
	static __u64 shown_s;
	__u64 seconds = since_ns / NS_PER_SECOND;

	if (seconds == shown_s || !isatty(STDERR_FILENO))
		return;
	shown_s = seconds;
	fprintf(stderr, "\r%llu s: %llu samples, %llu of requests ", seconds, counts->on_cpu,
		counts->in_requests);
	if (off_cpu)
		fprintf(stderr, "and %llu waits ", counts->waits);
}

/* Sample until the time is over, or Ctrl-C. Returns how long that was. */
static __u64 sample(const struct profiler *profiler, const struct sampler_options *options,
		    struct samples *samples)
{
	struct sampler *sampler = profiler->sampler;
	const __u64 begin_ns = sampler_until_ns(sampler) - options->duration_ns;
	const __u64 begun_ns = clock_now_ns();
	__u64 since_ns = 0;
	bool is_done = true;

	signal(SIGINT, on_interrupt);
	while (!interrupted && since_ns < options->duration_ns) {
		pause_ms(is_done ? PAUSE_MS : 0);
		sampler_read(sampler, samples_take, samples);
		is_done = processes_refresh(profiler->processes);
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
	if (labels->crowded)
		fprintf(stderr,
			"profile: %llu samples lost their labels: too many different ones\n",
			labels->crowded);
	if (labels->unnamed)
		fprintf(stderr, "profile: %llu labels were left out: their keys have no names\n",
			labels->unnamed);
	if (labels->conflicts)
		fprintf(stderr, "profile: %llu labels have two values\n", labels->conflicts);
	if (samples_counts(samples)->conflicts)
		fprintf(stderr, "profile: %llu samples have ids of two traces\n",
			samples_counts(samples)->conflicts);
}

/* Report losses: shares refer to the remaining samples. */
static void print_losses(const struct profiler *profiler, const struct samples *samples,
			 const struct proc_reader *reader)
{
	const struct samples_counts *counts = samples_counts(samples);
	const struct sampler *sampler = profiler->sampler;
	const __u64 unread = runtime_functions_unread(profiler->functions);

	if (proc_reader_given_up(reader))
		fprintf(stderr,
			"profile: %llu times a process could not be read: its memory or files did "
			"not respond\n",
			proc_reader_given_up(reader));
	if (sampler_lost(sampler))
		fprintf(stderr, "profile: %llu samples were lost: the ring was full\n",
			sampler_lost(sampler));
	if (counts->left_out)
		fprintf(stderr, "profile: %llu samples were left out: too many different stacks\n",
			counts->left_out);
	if (unread)
		fprintf(stderr,
			"profile: names of functions were not read %llu times: their process had "
			"ended, or reading took too long\n",
			unread);
	print_label_losses(samples);
	if (sampler_waits_left_out(sampler))
		fprintf(
		    stderr,
		    "profile: %llu waits were left out: their thread or length is not certain\n",
		    sampler_waits_left_out(sampler));
	if (!sampler_has_contexts(sampler) && !counts->in_requests)
		fputs("profile: no samples belong to requests: does ctxpropd run?\n", stderr);
}

/* A label of the message's, and how many samples have it: {KEY: {VALUE: samples}}. */
static void count_label(json_t *counts, const char *key, const char *value, __s64 samples)
{
	json_t *values = json_object_get(counts, key);

	if (!values) {
		values = json_object();
		json_object_set_new(counts, key, values);
	}
	samples += json_integer_value(json_object_get(values, value));
	json_object_set_new(values, value, json_integer(samples));
}

/* Of the labels that programs have given. */
static json_t *count_labels(const struct message *message)
{
	const Perftools__Profiles__Profile *profile = message->profile;
	json_t *counts = json_object();

	for (size_t i = 0; i < profile->n_sample; i++) {
		const Perftools__Profiles__Sample *sample = profile->sample[i];

		for (size_t k = 0; k < sample->n_label; k++) {
			const char *key = message_text(message, sample->label[k]->key);

			if (!message_label_is_ours(key))
				count_label(counts, key,
					    message_text(message, sample->label[k]->str),
					    sample->value[0]);
		}
	}
	return counts;
}

/* How many samples have each label, and what was lost of them. */
static json_t *labels_json(const struct message *message, const struct samples *samples)
{
	const struct labels *labels = samples_labels(samples);

	return json_pack("{so,sI,sI,sI,sI,sI,sI}", "samples", count_labels(message), "cut",
			 (json_int_t)labels->cut, "left_out", (json_int_t)labels->left_out,
			 "crowded", (json_int_t)labels->crowded, "unnamed",
			 (json_int_t)labels->unnamed, "conflicts", (json_int_t)labels->conflicts,
			 "conflicts_of_traces", (json_int_t)samples_counts(samples)->conflicts);
}

/* How many waits have begun, and how many of them no time is told of; NULL: nobody has asked. */
static json_t *waits_json(const struct profile_wanted *wanted, const struct taking *taking)
{
	if (!wanted->sampler.off_cpu)
		return NULL;
	return json_pack("{sI,sI}", "begun", (json_int_t)samples_counts(taking->samples)->waits,
			 "left_out", (json_int_t)sampler_waits_left_out(taking->profiler->sampler));
}

/* What only who takes samples knows. */
static json_t *more_json(const struct profile_wanted *wanted, const struct taking *taking,
			 const struct message *message)
{
	const struct samples_counts *counts = samples_counts(taking->samples);

	return json_pack("{so*,si,sI,sI,so}", "waits", waits_json(wanted, taking), "hz",
			 (int)wanted->sampler.hz, "samples", (json_int_t)counts->on_cpu,
			 "samples_of_requests", (json_int_t)counts->in_requests, "labels",
			 labels_json(message, taking->samples));
}

static bool keeps_none(const char *of, const void *data)
{
	(void)of;
	(void)data;
	return false;
}

/* If only some processes were sampled, the number of requests of other services is not used. */
static int write_file(const struct profile_wanted *wanted, struct message *message)
{
	if (wanted->sampler.tgid || wanted->sampler.cgroup)
		counts_keep(message, keeps_none, NULL);
	return profile_write(wanted->format, wanted->output, message, wanted->all);
}

static int report(const struct profile_wanted *wanted, const struct taking *taking,
		  const struct requests *requests, struct message *message)
{
	struct profile_told told = {.requests = requests};
	int exit_code = profile_choose(wanted, "profile", message);

	if (exit_code)
		return exit_code;
	told.more = wanted->json ? more_json(wanted, taking, message) : NULL;
	exit_code = profile_show(wanted, message, &told);
	json_decref(told.more);
	if (!exit_code && wanted->output)
		exit_code = write_file(wanted, message);
	return exit_code;
}

static int make_message(const struct profile_wanted *wanted, const struct taking *taking,
			struct requests *requests, struct message *ret)
{
	const struct samples_message_options options = {
	    .from_ns = taking->from_ns,
	    .duration_ns = taking->duration_ns,
	    .hz = wanted->sampler.hz,
	    .off_cpu = wanted->sampler.off_cpu,
	    .ids = wanted->ids || wanted->filter.trace ||
		   (wanted->format && profile_format_has_links(wanted->format)),
	    .of_servers = !wanted->sampler.requests_only,
	    .lost = sampler_lost(taking->profiler->sampler)};

	return samples_message(taking->samples, taking->profiler, requests, &options, ret);
}

static bool has_requests(const struct samples *samples)
{
	return samples_counts(samples)->in_requests || samples_counts(samples)->waits;
}

static int join_requests(const struct profile_wanted *wanted, const struct taking *taking)
{
	/* Samples are useful without a store, too. */
	sqlite3 *db = has_requests(taking->samples) ? command_open_store() : NULL;
	struct requests *requests =
	    requests_read(db, taking->from_ns, taking->from_ns + taking->duration_ns);
	struct message message;
	int exit_code;

	if (!requests) {
		exit_code = db ? command_refuse_store(db) : command_refuse("out of memory");
	} else if (make_message(wanted, taking, requests, &message)) {
		exit_code = command_refuse("out of memory");
	} else {
		exit_code = report(wanted, taking, requests, &message);
		message_free(&message);
	}
	requests_free(requests);
	sqlite3_close(db);
	return exit_code;
}

static int run(const struct profile_wanted *wanted, struct profiler *profiler,
	       const struct proc_reader *reader)
{
	struct taking taking = {.profiler = profiler,
				.samples = samples_new(profiler->processes, profiler->functions),
				.from_ns = query_now_ns()};
	int exit_code;

	if (!taking.samples)
		return command_refuse("out of memory");
	taking.duration_ns = (__s64)sample(profiler, &wanted->sampler, taking.samples);
	pause_ms(has_requests(taking.samples) ? SETTLE_MS : 0);
	exit_code = join_requests(wanted, &taking);
	print_losses(profiler, taking.samples, reader);
	samples_free(taking.samples);
	return exit_code;
}

int profile_take(const struct profile_wanted *wanted)
{
	char why[SAMPLER_WHY_MAX];
	static struct registered registered;
	struct profiler *profiler;
	struct proc_reader *reader;
	int exit_code, err;

	if (wanted->by || wanted->before)
		return command_misused("profile: there is no --%s; profile diff has it",
				       wanted->by ? "by" : "before");
	if (wanted->tags && !wanted->output)
		return command_misused("profile: --tags is for a file: -o is missing");
	err = registered_read(wanted->registry, &registered);
	if (err)
		return command_refuse("profile: %s: %s", wanted->registry, strerror(-err));
	command_store_path(); /* of the daemon that runs now */
	reader = proc_reader_new();
	if (!reader)
		return command_refuse("out of memory");
	if (profiler_open(&wanted->sampler, &registered, reader, &profiler, why)) {
		exit_code = command_refuse("profile: %s", why);
	} else {
		exit_code = run(wanted, profiler, reader);
		profiler_close(profiler);
	}
	proc_reader_free(reader);
	return exit_code;
}
