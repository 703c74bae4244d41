// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/pace.h"
#include "profile/recorded.h"
#include "profile/registered.h"
#include "profile/window_file.h"
#include "trace/query_words.h"

#define SETTLE_NS   (2 * NS_PER_SECOND)   /* until the spans of the last requests are stored */
#define SHORTEST_NS (5 * NS_PER_SECOND)   /* of a window that ends early: it has much to keep */
#define BYTES_MAX   (8UL << 20)           /* of the stacks of a window */
#define LOOK_NS     (16 * NS_PER_SECOND)  /* at mappings that stay the same, see processes.h */
#define FORGET_NS   (180 * NS_PER_SECOND) /* processes that do nothing */
#define FORGET_EACH (10 * NS_PER_SECOND)  /* they are looked for so often */
#define RING_OF_CPU (128UL << 10)         /* bytes */
#define RING_LEAST  (1UL << 20)

struct recorder {
	struct recorder_options options;
	struct window_folder folder;
	struct registered registered;
	struct proc_reader *reader; /* it remembers whom to leave alone, whatever is begun anew */
	long cpus;                  /* on line when the sampler began */
	__u32 ring_bytes;
	unsigned int pause_ms;
	__u64 renewed_ns, forgot_ns;
	__u64 given_up; /* processes, as they are counted already */
	struct recorded now,
	    before; /* the window that goes on, and one that may be written again */
	bool is_stopped;
};

/* Waits are taken whenever there are some, samples by the clock. */
static __u32 choose_ring(bool off_cpu, long cpus)
{
	const size_t wanted = cpus > 0 ? (size_t)cpus * RING_OF_CPU : 0;
	__u32 bytes = RING_LEAST;

	while (bytes < PROFILE_RING_BYTES && (off_cpu || bytes < wanted))
		bytes *= 2;
	return bytes;
}

static int open_sampling(struct recorder *recorder, struct sampling **ret_sampling, char *ret_why)
{
	struct sampler_options wanted = {.hz = recorder->options.hz,
					 .off_cpu = recorder->options.off_cpu,
					 .sources = PROFILE_SOURCES_OWN};
	int err;

	recorder->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	wanted.ring_bytes = choose_ring(wanted.off_cpu, recorder->cpus);
	err =
	    sampling_open(&wanted, &recorder->registered, recorder->reader, ret_sampling, ret_why);
	if (err)
		return err;
	recorder->ring_bytes = wanted.ring_bytes;
	recorder->renewed_ns = clock_now_ns();
	processes_slow_down((*ret_sampling)->processes, LOOK_NS);
	return 0;
}

static int open_folder(struct recorder *recorder, char *ret_why)
{
	int err = windows_folder(recorder->options.store, recorder->folder.path);

	if (!err)
		err = window_folder_take(&recorder->folder);
	if (err == -EBUSY)
		snprintf(ret_why, RECORDER_WHY_MAX, "another ctxpropd records to %.200s",
			 recorder->folder.path);
	else if (err)
		snprintf(ret_why, RECORDER_WHY_MAX, "%.200s: %s", recorder->folder.path,
			 strerror(-err));
	return err;
}

static int begin(struct recorder *recorder, char *ret_why)
{
	struct sampling *sampling;
	int err = open_folder(recorder, ret_why);

	if (err)
		return err;
	/* Without them samples are worth something, too. */
	if (registered_read(recorder->options.registry, &recorder->registered))
		recorder->registered.count = 0;
	err = open_sampling(recorder, &sampling, ret_why);
	if (err)
		return err;
	err = recorded_begin(&recorder->now, sampling);
	if (err)
		snprintf(ret_why, RECORDER_WHY_MAX, "out of memory");
	return err;
}

int recorder_open(const struct recorder_options *options, struct recorder **ret_recorder,
		  char *ret_why)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int err;

	if (!recorder) {
		snprintf(ret_why, RECORDER_WHY_MAX, "out of memory");
		return -ENOMEM;
	}
	recorder->options = *options;
	recorder->folder.fd = -1;
	recorder->pause_ms = PACE_PAUSE_MAX_MS;
	recorder->forgot_ns = clock_now_ns();
	recorder->reader = proc_reader_new();
	if (recorder->reader) {
		err = begin(recorder, ret_why);
	} else {
		err = -ENOMEM;
		snprintf(ret_why, RECORDER_WHY_MAX, "out of memory");
	}
	if (err)
		recorder_close(recorder);
	else
		*ret_recorder = recorder;
	return err;
}

/* A wait may have begun in the window before. */
static void take(const struct profile_sample *sample, void *data)
{
	struct recorder *recorder = data;
	struct recorded *before = &recorder->before;

	if (sample->kind == PROFILE_WAITED) {
		if (samples_take_end(recorder->now.samples, sample))
			return;
		if (before->samples && samples_take_end(before->samples, sample)) {
			before->is_open = true;
			return;
		}
	}
	samples_take(sample, recorder->now.samples);
}

/* Why everything is to be begun anew; NULL: nothing is. */
static const char *why_renew(struct recorder *recorder)
{
	const __u64 since_ns = clock_now_ns() - recorder->renewed_ns;
	struct registered registered;

	if (sampling_used(recorder->now.sampling) >= recorder->options.full &&
	    since_ns >= recorder->options.renew_s * NS_PER_SECOND)
		return "they were full";
	if (sysconf(_SC_NPROCESSORS_ONLN) != recorder->cpus)
		return "CPUs came or went";
	if (registered_read(recorder->options.registry, &registered) ||
	    !memcmp(&registered, &recorder->registered, sizeof(registered)))
		return NULL;
	recorder->registered = registered;
	return "other variables are registered";
}

/* What the next window is sampled by. */
static struct sampling *choose_sampling(struct recorder *recorder)
{
	struct sampling *old = recorder->now.sampling, *sampling = old;
	const char *reason = why_renew(recorder);
	char why[SAMPLER_WHY_MAX], text[RECORDER_WHY_MAX];

	if (!reason)
		return old;
	if (!open_sampling(recorder, &sampling, why)) {
		recorder->options.counts->renewed++;
		recorder->options.tell(RECORDER_RENEWED, reason);
		return sampling;
	}
	recorder->renewed_ns = clock_now_ns();
	recorder->options.counts->failed++;
	snprintf(text, sizeof(text), "the tables stay as they are: %s", why);
	recorder->options.tell(RECORDER_LACKS, text);
	return old;
}

/* The window before the one that goes on is done with. */
static void end_before(struct recorder *recorder)
{
	struct sampling *sampling = recorder->before.sampling;

	if (!recorder->before.samples)
		return;
	if (recorder->before.is_open)
		recorded_write(&recorder->before, &recorder->options, &recorder->folder);
	recorded_free(&recorder->before);
	if (sampling != recorder->now.sampling)
		sampling_close(sampling);
}

static void stop_sampling(struct recorder *recorder)
{
	struct sampler *sampler = recorder->now.sampling->sampler;

	sampler_stop(sampler);
	sampler_read(sampler, take, recorder);
}

/*
 * The current window ends, and the next one begins. Without memory for that it goes on. A new
 * sampler is ready before the old one ends, so that nothing is missed; a moment is sampled twice.
 */
static void rotate(struct recorder *recorder)
{
	struct sampling *sampling;
	struct recorded next;

	end_before(recorder);
	sampling = choose_sampling(recorder);
	if (recorded_begin(&next, sampling)) {
		if (sampling != recorder->now.sampling)
			sampling_close(sampling);
		return;
	}
	if (sampling != recorder->now.sampling)
		stop_sampling(recorder);
	recorded_end(&recorder->now, recorder->options.counts);
	if (sampling != recorder->now.sampling)
		sampling_stop(recorder->now.sampling);
	recorder->before = recorder->now;
	recorder->now = next;
}

static bool is_over(const struct recorder *recorder, __u64 now_ns)
{
	const struct recorded *window = &recorder->now;
	const __u64 since_ns = now_ns - window->began_ns;

	return pace_is_over(window->from_ns, query_now_ns(), since_ns,
			    recorder->options.window_s) ||
	       (since_ns > SHORTEST_NS && samples_counts(window->samples)->bytes > BYTES_MAX);
}

static void look_after_before(struct recorder *recorder, __u64 now_ns)
{
	struct recorded *before = &recorder->before;
	const __u64 since_ns = now_ns - before->began_ns - before->lasted_ns;

	if (!before->samples)
		return;
	if (since_ns > recorder->options.window_s * NS_PER_SECOND / 2)
		end_before(recorder);
	else if (!before->is_tried && since_ns > SETTLE_NS)
		recorded_write(before, &recorder->options, &recorder->folder);
}

/* The processes of all stacks stay, however long this process was held up. */
static void forget(struct recorder *recorder, __u64 now_ns)
{
	const struct recorded *oldest =
	    recorder->before.samples ? &recorder->before : &recorder->now;
	__u64 before_ns = now_ns > FORGET_NS ? now_ns - FORGET_NS : 0;

	if (now_ns - recorder->forgot_ns < FORGET_EACH)
		return;
	if (before_ns > oldest->began_ns)
		before_ns = oldest->began_ns;
	processes_forget(recorder->now.sampling->processes, before_ns, oldest->began_ns);
	recorder->forgot_ns = now_ns;
}

unsigned int recorder_turn(struct recorder *recorder)
{
	const size_t bytes = sampler_read(recorder->now.sampling->sampler, take, recorder);
	const __u64 now_ns = clock_now_ns();

	recorder->options.counts->turned_ns = now_ns;
	recorder->options.counts->unreadable +=
	    proc_reader_given_up(recorder->reader) - recorder->given_up;
	recorder->given_up = proc_reader_given_up(recorder->reader);
	recorder->pause_ms = pace_pause_ms(recorder->pause_ms, bytes, recorder->ring_bytes);
	look_after_before(recorder, now_ns);
	if (is_over(recorder, now_ns))
		rotate(recorder);
	forget(recorder, now_ns);
	return recorder->pause_ms;
}

void recorder_stop(struct recorder *recorder)
{
	if (recorder->is_stopped)
		return;
	recorder->is_stopped = true;
	stop_sampling(recorder);
	recorded_end(&recorder->now, recorder->options.counts);
}

void recorder_close(struct recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->now.samples) {
		recorder_stop(recorder);
		end_before(recorder);
		if (samples_counts(recorder->now.samples)->stacks)
			recorded_write(&recorder->now, &recorder->options, &recorder->folder);
	}
	sampling_close(recorder->now.sampling);
	recorded_free(&recorder->now);
	proc_reader_free(recorder->reader);
	window_folder_close(&recorder->folder);
	free(recorder);
}
