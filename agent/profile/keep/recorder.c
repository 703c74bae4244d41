// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/keep/pace.h"
#include "profile/keep/recorder.h"
#include "profile/keep/window_file.h"
#include "profile/take/profiler.h"
#include "profile/take/registered.h"
#include "profile/take/samples.h"
#include "profile/take/samples_message.h"
#include "trace/query_words.h"
#include "trace/store.h"

struct taken_window {
	struct profiler *profiler; /* perhaps that of the next window, too */
	struct samples *samples;   /* NULL: there is no window */
	__s64 from_ns;             /* since 1970 */
	__u64 began_ns;            /* CLOCK_MONOTONIC */
	__u64 lasted_ns;           /* 0: it has not ended */
	__s64 to_s;                /* its end, since 1970 */
	__u64 lost, unclear;       /* what the sampler had counted when it began, and since then */
	bool is_tried;             /* writing it */
	bool is_written;           /* and that was done */
	bool is_open;              /* it has news since its file was written */
};

/* Begin a window that samples go to from now on. 0 or -ENOMEM. */
static int taken_window_begin(struct taken_window *ret, struct profiler *profiler)
{
	*ret =
	    (struct taken_window){.profiler = profiler,
				  .samples = samples_new(profiler->processes, profiler->functions),
				  .from_ns = query_now_ns(),
				  .began_ns = clock_now_ns(),
				  .lost = sampler_lost(profiler->sampler),
				  .unclear = sampler_waits_left_out(profiler->sampler),
				  .is_open = true};
	return ret->samples ? 0 : -ENOMEM;
}

/* It has ended: add what the sampler has counted to the counts. */
static void taken_window_end(struct taken_window *taken, struct recorder_counts *counts)
{
	const struct samples_counts *counted = samples_counts(taken->samples);
	const struct sampler *sampler = taken->profiler->sampler;

	taken->lasted_ns = clock_now_ns() - taken->began_ns;
	taken->to_s = pace_end_s(taken->from_ns, query_now_ns(), taken->lasted_ns);
	taken->lost = sampler_lost(sampler) - taken->lost;
	taken->unclear = sampler_waits_left_out(sampler) - taken->unclear;
	counts->samples += counted->on_cpu;
	counts->of_requests += counted->in_requests;
	counts->incomplete += counted->incomplete;
	counts->waits += counted->waits;
	counts->lost += taken->lost;
	counts->left_out += counted->left_out + taken->unclear;
}

/* Free the samples, and not what they were taken by. */
static void taken_window_free(struct taken_window *taken)
{
	samples_free(taken->samples);
	*taken = (struct taken_window){};
}

__attribute__((format(printf, 3, 4))) static void
fail(const struct recorder_options *options, enum recorder_event event, const char *format, ...)
{
	char text[RECORDER_WHY_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	options->counts->failed++;
	options->tell(event, text);
}

static int make_message(const struct taken_window *taken, const struct recorder_options *options,
			struct requests *requests, struct message *ret)
{
	const struct samples_message_options wanted = {.from_ns = taken->from_ns,
						       .duration_ns = (__s64)taken->lasted_ns,
						       .hz = options->hz,
						       .off_cpu = options->off_cpu,
						       .of_servers = true,
						       .lost = taken->lost};

	return samples_message(taken->samples, taken->profiler, requests, &wanted, ret);
}

static int write_profile(const void *message, FILE *out)
{
	return message_write(message, out);
}

/* The requests of its time, by the store; none where it cannot be read. NULL: no memory. */
static struct requests *read_requests(const struct taken_window *taken,
				      const struct recorder_options *options, sqlite3 **ret_db)
{
	const __s64 to_ns = taken->from_ns + (__s64)taken->lasted_ns;
	char why[128];
	struct requests *requests;

	*ret_db = store_open_to_read(options->store, why, sizeof(why));
	requests = requests_read(*ret_db, taken->from_ns, to_ns);
	if (*ret_db && !requests)
		snprintf(why, sizeof(why), "%s", sqlite3_errmsg(*ret_db));
	if (*ret_db && requests)
		return requests;
	fail(options, RECORDER_LACKS, "a window has no requests: cannot read the store %s: %s",
	     options->store, why);
	return requests ? requests : requests_read(NULL, taken->from_ns, to_ns);
}

static struct window time_of(const struct taken_window *taken)
{
	return (struct window){taken->from_ns / (__s64)NS_PER_SECOND, taken->to_s};
}

static void tell_removed(const struct recorder_options *options, const struct window_folder *folder,
			 size_t removed)
{
	char text[RECORDER_WHY_MAX];

	options->counts->removed += removed;
	snprintf(text, sizeof(text), "the disk is full, removing the oldest windows: %.200s",
		 folder->path);
	if (removed)
		options->tell(RECORDER_CROWDED, text);
}

/* 0 or -errno. */
static int write_file(struct taken_window *taken, const struct recorder_options *options,
		      const struct window_folder *folder)
{
	const struct window window = time_of(taken);
	sqlite3 *db;
	struct requests *requests = read_requests(taken, options, &db);
	struct message message;
	size_t removed;
	int err = requests ? make_message(taken, options, requests, &message) : -ENOMEM;

	if (!err) {
		err = window_file_write(folder, &window, write_profile, &message, &removed);
		tell_removed(options, folder, removed);
		message_free(&message);
	}
	if (!err)
		taken->is_open = requests_missed(requests);
	requests_free(requests);
	sqlite3_close(db);
	return err;
}

/* Remove old windows, once per window. */
static void tidy(const struct taken_window *taken, const struct recorder_options *options,
		 const struct window_folder *folder)
{
	const int err = taken->is_tried ? 0 : windows_tidy(folder->path, taken->to_s);

	if (err)
		fail(options, RECORDER_LACKS, "cannot remove old windows: %.200s: %s", folder->path,
		     strerror(-err));
}

static void tell_written(struct taken_window *taken, const struct recorder_options *options,
			 bool is_whole)
{
	const struct window window = time_of(taken);
	char name[WINDOW_NAME_MAX];

	options->counts->windows += !taken->is_written;
	taken->is_written = true;
	window_name(&window, name);
	if (is_whole)
		options->tell(RECORDER_WRITTEN, name);
}

/*
 * Write its file in the folder, with the requests as the store has them; the first time windows
 * that are too old go. What was done, and what could not be, is told and counted; without a store
 * the requests are not known.
 */
static void taken_window_write(struct taken_window *taken, const struct recorder_options *options,
			       struct window_folder *folder)
{
	const __u64 failed = options->counts->failed;
	int err = window_folder_take(folder);

	if (!err) {
		tidy(taken, options, folder);
		err = write_file(taken, options, folder);
	}
	taken->is_tried = true;
	if (err)
		fail(options, RECORDER_FAILED, "a window was not written: %.200s: %s", folder->path,
		     strerror(-err));
	else
		tell_written(taken, options, options->counts->failed == failed);
}

#define SETTLE_NS   (2 * NS_PER_SECOND)   /* time for the spans of the last requests to be stored */
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
	struct proc_reader
	    *reader; /* remembers which processes to leave alone, and is not begun anew */
	long cpus;   /* on line when the sampler began */
	__u32 ring_bytes;
	unsigned int pause_ms;
	__u64 renewed_ns, forgot_ns;
	__u64 given_up; /* processes, as they are counted already */
	struct taken_window now,
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

static int open_profiler(struct recorder *recorder, struct profiler **ret_profiler, char *ret_why)
{
	struct sampler_options wanted = {.hz = recorder->options.hz,
					 .off_cpu = recorder->options.off_cpu,
					 .sources = PROFILE_SOURCES_OWN};
	int err;

	recorder->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	wanted.ring_bytes = choose_ring(wanted.off_cpu, recorder->cpus);
	err =
	    profiler_open(&wanted, &recorder->registered, recorder->reader, ret_profiler, ret_why);
	if (err)
		return err;
	recorder->ring_bytes = wanted.ring_bytes;
	recorder->renewed_ns = clock_now_ns();
	processes_slow_down((*ret_profiler)->processes, LOOK_NS);
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
	struct profiler *profiler;
	int err = open_folder(recorder, ret_why);

	if (err)
		return err;
	/* Without them samples are worth something, too. */
	if (registered_read(recorder->options.registry, &recorder->registered))
		recorder->registered.count = 0;
	err = open_profiler(recorder, &profiler, ret_why);
	if (err)
		return err;
	err = taken_window_begin(&recorder->now, profiler);
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
	struct taken_window *before = &recorder->before;

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

	if (profiler_used(recorder->now.profiler) >= recorder->options.full &&
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
static struct profiler *choose_profiler(struct recorder *recorder)
{
	struct profiler *old = recorder->now.profiler, *profiler = old;
	const char *reason = why_renew(recorder);
	char why[SAMPLER_WHY_MAX], text[RECORDER_WHY_MAX];

	if (!reason)
		return old;
	if (!open_profiler(recorder, &profiler, why)) {
		recorder->options.counts->renewed++;
		recorder->options.tell(RECORDER_RENEWED, reason);
		return profiler;
	}
	recorder->renewed_ns = clock_now_ns();
	recorder->options.counts->failed++;
	snprintf(text, sizeof(text), "the tables stay as they are: %s", why);
	recorder->options.tell(RECORDER_LACKS, text);
	return old;
}

/* Finish the window before the current one. */
static void end_before(struct recorder *recorder)
{
	struct profiler *profiler = recorder->before.profiler;

	if (!recorder->before.samples)
		return;
	if (recorder->before.is_open)
		taken_window_write(&recorder->before, &recorder->options, &recorder->folder);
	taken_window_free(&recorder->before);
	if (profiler != recorder->now.profiler)
		profiler_close(profiler);
}

static void stop_profiler(struct recorder *recorder)
{
	struct sampler *sampler = recorder->now.profiler->sampler;

	sampler_stop(sampler);
	sampler_read(sampler, take, recorder);
}

/*
 * The current window ends, and the next one begins. Without memory for that it goes on. A new
 * sampler is ready before the old one ends, so that nothing is missed; a moment is sampled twice.
 */
static void rotate(struct recorder *recorder)
{
	struct profiler *profiler;
	struct taken_window next;

	end_before(recorder);
	profiler = choose_profiler(recorder);
	if (taken_window_begin(&next, profiler)) {
		if (profiler != recorder->now.profiler)
			profiler_close(profiler);
		return;
	}
	if (profiler != recorder->now.profiler)
		stop_profiler(recorder);
	taken_window_end(&recorder->now, recorder->options.counts);
	if (profiler != recorder->now.profiler)
		profiler_stop(recorder->now.profiler);
	recorder->before = recorder->now;
	recorder->now = next;
}

static bool is_over(const struct recorder *recorder, __u64 now_ns)
{
	const struct taken_window *window = &recorder->now;
	const __u64 since_ns = now_ns - window->began_ns;

	return pace_is_over(window->from_ns, query_now_ns(), since_ns,
			    recorder->options.window_s) ||
	       (since_ns > SHORTEST_NS && samples_counts(window->samples)->bytes > BYTES_MAX);
}

static void look_after_before(struct recorder *recorder, __u64 now_ns)
{
	struct taken_window *before = &recorder->before;
	const __u64 since_ns = now_ns - before->began_ns - before->lasted_ns;

	if (!before->samples)
		return;
	if (since_ns > recorder->options.window_s * NS_PER_SECOND / 2)
		end_before(recorder);
	else if (!before->is_tried && since_ns > SETTLE_NS)
		taken_window_write(before, &recorder->options, &recorder->folder);
}

/* The processes of all stacks stay, however long this process was held up. */
static void forget(struct recorder *recorder, __u64 now_ns)
{
	const struct taken_window *oldest =
	    recorder->before.samples ? &recorder->before : &recorder->now;
	__u64 before_ns = now_ns > FORGET_NS ? now_ns - FORGET_NS : 0;

	if (now_ns - recorder->forgot_ns < FORGET_EACH)
		return;
	if (before_ns > oldest->began_ns)
		before_ns = oldest->began_ns;
	processes_forget(recorder->now.profiler->processes, before_ns, oldest->began_ns);
	recorder->forgot_ns = now_ns;
}

unsigned int recorder_turn(struct recorder *recorder)
{
	const size_t bytes = sampler_read(recorder->now.profiler->sampler, take, recorder);
	const bool is_done = processes_refresh(recorder->now.profiler->processes);
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
	return is_done ? recorder->pause_ms : 0;
}

void recorder_stop(struct recorder *recorder)
{
	if (recorder->is_stopped)
		return;
	recorder->is_stopped = true;
	stop_profiler(recorder);
	taken_window_end(&recorder->now, recorder->options.counts);
}

void recorder_close(struct recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->now.samples) {
		recorder_stop(recorder);
		end_before(recorder);
		if (samples_counts(recorder->now.samples)->stacks)
			taken_window_write(&recorder->now, &recorder->options, &recorder->folder);
	}
	profiler_close(recorder->now.profiler);
	taken_window_free(&recorder->now);
	proc_reader_free(recorder->reader);
	window_folder_close(&recorder->folder);
	free(recorder);
}
