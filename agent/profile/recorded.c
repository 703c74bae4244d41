// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "profile/pace.h"
#include "profile/pprof.h"
#include "profile/recorded.h"
#include "trace/query_words.h"
#include "trace/store.h"

int recorded_begin(struct recorded *ret_recorded, struct sampling *sampling)
{
	*ret_recorded =
	    (struct recorded){.sampling = sampling,
			      .samples = samples_new(sampling->processes, sampling->named),
			      .from_ns = query_now_ns(),
			      .began_ns = clock_now_ns(),
			      .lost = sampler_lost(sampling->sampler),
			      .unclear = sampler_waits_left_out(sampling->sampler),
			      .is_open = true};
	return ret_recorded->samples ? 0 : -ENOMEM;
}

void recorded_end(struct recorded *recorded, struct recorder_counts *counts)
{
	const struct samples_counts *taken = samples_counts(recorded->samples);
	const struct sampler *sampler = recorded->sampling->sampler;

	recorded->lasted_ns = clock_now_ns() - recorded->began_ns;
	recorded->to_s = pace_end_s(recorded->from_ns, query_now_ns(), recorded->lasted_ns);
	recorded->lost = sampler_lost(sampler) - recorded->lost;
	recorded->unclear = sampler_waits_left_out(sampler) - recorded->unclear;
	counts->samples += taken->on_cpu;
	counts->of_requests += taken->in_requests;
	counts->incomplete += taken->incomplete;
	counts->waits += taken->waits;
	counts->lost += recorded->lost;
	counts->left_out += taken->left_out + recorded->unclear;
}

void recorded_free(struct recorded *recorded)
{
	samples_free(recorded->samples);
	*recorded = (struct recorded){};
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

static int make_message(const struct recorded *recorded, const struct recorder_options *options,
			struct requests *requests, struct message *ret)
{
	const struct pprof_options wanted = {.from_ns = recorded->from_ns,
					     .duration_ns = (__s64)recorded->lasted_ns,
					     .hz = options->hz,
					     .off_cpu = options->off_cpu,
					     .of_servers = true,
					     .lost = recorded->lost};

	return pprof_message(recorded->samples, recorded->sampling, requests, &wanted, ret);
}

static int write_profile(const void *message, FILE *out)
{
	return message_write(message, out);
}

/* The requests of its time, by the store; none where it cannot be read. NULL: no memory. */
static struct requests *read_requests(const struct recorded *recorded,
				      const struct recorder_options *options, sqlite3 **ret_db)
{
	const __s64 to_ns = recorded->from_ns + (__s64)recorded->lasted_ns;
	char why[128];
	struct requests *requests;

	*ret_db = store_open_to_read(options->store, why, sizeof(why));
	requests = requests_read(*ret_db, recorded->from_ns, to_ns);
	if (*ret_db && !requests)
		snprintf(why, sizeof(why), "%s", sqlite3_errmsg(*ret_db));
	if (*ret_db && requests)
		return requests;
	fail(options, RECORDER_LACKS, "requests of a window are not known: the store %s: %s",
	     options->store, why);
	return requests ? requests : requests_read(NULL, recorded->from_ns, to_ns);
}

static struct window time_of(const struct recorded *recorded)
{
	return (struct window){recorded->from_ns / (__s64)NS_PER_SECOND, recorded->to_s};
}

static void tell_removed(const struct recorder_options *options, const struct window_folder *folder,
			 size_t removed)
{
	char text[RECORDER_WHY_MAX];

	options->counts->removed += removed;
	snprintf(text, sizeof(text), "no room is left, the oldest windows are removed: %.200s",
		 folder->path);
	if (removed)
		options->tell(RECORDER_CROWDED, text);
}

/* 0 or -errno. */
static int write_file(struct recorded *recorded, const struct recorder_options *options,
		      const struct window_folder *folder)
{
	const struct window window = time_of(recorded);
	sqlite3 *db;
	struct requests *requests = read_requests(recorded, options, &db);
	struct message message;
	size_t removed;
	int err = requests ? make_message(recorded, options, requests, &message) : -ENOMEM;

	if (!err) {
		err = window_file_write(folder, &window, write_profile, &message, &removed);
		tell_removed(options, folder, removed);
		message_free(&message);
	}
	if (!err)
		recorded->is_open = requests_missed(requests);
	requests_free(requests);
	sqlite3_close(db);
	return err;
}

/* What is too old goes once for each window. */
static void tidy(const struct recorded *recorded, const struct recorder_options *options,
		 const struct window_folder *folder)
{
	const int err = recorded->is_tried ? 0 : windows_tidy(folder->path, recorded->to_s);

	if (err)
		fail(options, RECORDER_LACKS, "old windows stay: %.200s: %s", folder->path,
		     strerror(-err));
}

static void tell_written(struct recorded *recorded, const struct recorder_options *options,
			 bool is_whole)
{
	const struct window window = time_of(recorded);
	char name[WINDOW_NAME_MAX];

	options->counts->windows += !recorded->is_written;
	recorded->is_written = true;
	window_name(&window, name);
	if (is_whole)
		options->tell(RECORDER_WRITTEN, name);
}

void recorded_write(struct recorded *recorded, const struct recorder_options *options,
		    struct window_folder *folder)
{
	const __u64 failed = options->counts->failed;
	int err = window_folder_take(folder);

	if (!err) {
		tidy(recorded, options, folder);
		err = write_file(recorded, options, folder);
	}
	recorded->is_tried = true;
	if (err)
		fail(options, RECORDER_FAILED, "a window was not written: %.200s: %s", folder->path,
		     strerror(-err));
	else
		tell_written(recorded, options, options->counts->failed == failed);
}
