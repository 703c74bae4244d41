// SPDX-License-Identifier: Apache-2.0
/* Samples that are known, as a message, and what is drawn of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/draw/flame.h"
#include "profile/message/filter.h"
#include "profile/take/samples_message.h"
#include "profile/take/whole_stack.h"
#include "trace/schema.h"

#define HZ        100
#define PERIOD_NS 10000000
#define BLOCKED   7000
#define WORDS_MAX 2048

enum { TGID = 4711, WORK = 0x10, MAIN = 0x20 };
#define KERNEL 0xffffffff81000000ULL

/* What is known of the process, its files and its frames. */
static const __u64 frames[] = {FRAME_UNKNOWN, FRAME_OF_FILE(0) | WORK, FRAME_OF_FILE(0) | MAIN,
			       FRAME_NAMED | 1, KERNEL};
static const char *const texts[] = {"[unknown code]", "work", "main", "Job.run (job.rb)",
				    "do_syscall_64"};
#define FRAMES (sizeof(frames) / sizeof(frames[0]))

static struct process process = {.tgid = TGID, .name = "app"};
static const struct process_code code = {.end = 0x1000};
static sqlite3 *db;

struct process *processes_find(struct processes *processes, const struct profile_sample *sample)
{
	(void)processes;
	(void)sample;
	return &process;
}

void processes_meet(struct process *one, const struct profile_sample *sample)
{
	(void)one;
	(void)sample;
}

const struct registered *processes_registered(const struct processes *processes)
{
	(void)processes;
	return NULL;
}

const struct runtime_compiled *process_compiled(const struct process *one)
{
	(void)one;
	return NULL;
}

const struct process_code *process_code_at(const struct process *one, __u64 address)
{
	(void)one;
	return address < code.end ? &code : NULL;
}

long runtime_functions_get(struct runtime_functions *functions, const struct named_code *named,
			   bool *ret_has_outer)
{
	(void)functions;
	(void)named;
	*ret_has_outer = false;
	return 1;
}

size_t files_count(const struct files *files)
{
	(void)files;
	return 1;
}

const char *files_name(const struct files *files, int file)
{
	(void)files;
	(void)file;
	return "app.so";
}

struct frame_names *frame_names_new(const struct samples *samples, const struct profiler *profiler)
{
	(void)samples;
	(void)profiler;
	return calloc(1, 1);
}

void frame_names_free(struct frame_names *names)
{
	free(names);
}

const struct files *frame_names_files(const struct frame_names *names)
{
	(void)names;
	return NULL;
}

size_t frame_names_count(const struct frame_names *names)
{
	(void)names;
	return FRAMES;
}

__u64 frame_names_frame(const struct frame_names *names, size_t number)
{
	(void)names;
	return frames[number];
}

size_t frame_names_number(const struct frame_names *names, __u64 frame)
{
	size_t number = 0;

	(void)names;
	while (number + 1 < FRAMES && frames[number] != frame)
		number++;
	return number;
}

const char *frame_names_get(const struct frame_names *names, __u64 frame)
{
	return texts[frame_names_number(names, frame)];
}

const char *frame_names_file(const struct frame_names *names, __u64 frame)
{
	(void)names;
	return frame & FRAME_KERNEL ? "kernel" : "app.so";
}

__u32 frame_names_line(const struct frame_names *names, __u64 frame)
{
	(void)names;
	return frame_is_named(frame) ? 12 : 0;
}

/* A sample of work() in main(), of the request in the store. */
static struct profile_sample of_request(void)
{
	struct profile_sample sample = {.tgid = TGID,
					.tid = TGID,
					.kind = PROFILE_ON_CPU,
					.stop = PROFILE_STOP_END,
					.user_count = 2,
					.serves = 1,
					.context_source = PROFILE_SOURCE_ENGINE,
					.trace_id = {1},
					.span_id = {2},
					.request_span = {2},
					.frame = {WORK, MAIN}};

	return sample;
}

/* The same of no request, in the kernel, and cut off. */
static struct profile_sample of_none(void)
{
	struct profile_sample sample = {.tgid = TGID,
					.tid = TGID,
					.kind = PROFILE_ON_CPU,
					.stop = PROFILE_STOP_DEEP,
					.kernel_count = 1,
					.user_count = 1,
					.serves = 1,
					.frame = {KERNEL, MAIN}};

	return sample;
}

/* A label of the program, behind the frames. */
static void add_label(struct profile_sample *sample, const char *key, const char *value)
{
	struct profile_label *label =
	    (void *)(sample->frame + sample->kernel_count + sample->user_count +
		     sample->label_count++ * PROFILE_LABEL_WORDS);

	*label = (struct profile_label){.source = PROFILE_SOURCE_CUSTOM};
	memcpy(label->key, key, strlen(key));
	memcpy(label->value, value, strlen(value));
}

/* Two samples of the request, one with labels, one of none, and perhaps a wait of the request. */
static struct samples *take(bool waits)
{
	struct samples *samples = samples_new(NULL, NULL);
	struct profile_sample sample = of_request();

	assert_non_null(samples);
	samples_take(&sample, samples);
	samples_take(&sample, samples);
	add_label(&sample, "tenant", "acme");
	add_label(&sample, "endpoint", "mine");
	samples_take(&sample, samples);
	sample = of_none();
	samples_take(&sample, samples);
	if (!waits)
		return samples;
	sample = of_request();
	sample.kind = PROFILE_WAIT;
	samples_take(&sample, samples);
	sample.kind = PROFILE_WAITED;
	sample.waited_ns[PROFILE_BLOCKED] = BLOCKED;
	samples_take(&sample, samples);
	return samples;
}

static struct message make(bool off_cpu, bool ids)
{
	const struct samples_message_options options = {
	    .hz = HZ, .off_cpu = off_cpu, .ids = ids, .of_servers = true, .lost = 3};
	struct requests *requests = requests_read(db, 0, 100000);
	struct samples *samples = take(off_cpu);
	struct message message;

	assert_non_null(requests);
	assert_int_equal(samples_message(samples, NULL, requests, &options, &message), 0);
	requests_free(requests);
	samples_free(samples);
	return message;
}

static void assert_folded(const struct message *message, const char *wanted)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);
	char written[WORDS_MAX] = "";
	FILE *out = fmemopen(written, sizeof(written), "w");

	assert_non_null(root);
	assert_non_null(out);
	flame_write_folded(root, out);
	fclose(out);
	flame_free(root);
	assert_string_equal(written, wanted);
}

/* The sample with these labels, "" for one that it must not have. */
static const Perftools__Profiles__Sample *find(const struct message *message, const char *endpoint,
					       const char *tenant, const char *wait)
{
	const Perftools__Profiles__Profile *profile = message->profile;

	for (size_t i = 0; i < profile->n_sample; i++) {
		const Perftools__Profiles__Sample *sample = profile->sample[i];

		if (!strcmp(message_label(message, sample, "endpoint"), endpoint) &&
		    !strcmp(message_label(message, sample, "tenant"), tenant) &&
		    !strcmp(message_label(message, sample, "wait"), wait))
			return sample;
	}
	fail_msg("no sample of %s, %s, %s", endpoint, tenant, wait);
	return NULL;
}

static void assert_label(const struct message *message, const Perftools__Profiles__Sample *sample,
			 const char *key, const char *wanted)
{
	assert_string_equal(message_label(message, sample, key), wanted);
}

static void labels(void **state)
{
	struct message message = make(false, false);
	const Perftools__Profiles__Sample *sample = find(&message, "GET /a", "", "");

	(void)state;
	assert_int_equal(message.profile->n_sample, 3);
	assert_int_equal(message.profile->period, PERIOD_NS);
	assert_int_equal(sample->n_value, 2);
	assert_int_equal(sample->value[0], 2);
	assert_int_equal(sample->value[1], 2 * PERIOD_NS);
	assert_label(&message, sample, "service", "shop");
	assert_label(&message, sample, "process", "app");
	assert_label(&message, sample, "status", "200");
	assert_label(&message, sample, "latency_bucket", "p50");
	assert_label(&message, sample, "context_source", "ctxprop");
	assert_label(&message, sample, "trace_id", "");
	sample = find(&message, "GET /a", "acme", "");
	assert_int_equal(sample->value[0], 1);
	assert_label(&message, sample, "label.endpoint", "mine");
	sample = find(&message, ENDPOINT_NONE, "", "");
	assert_label(&message, sample, "no_request", "none-open");
	assert_label(&message, sample, "stack", "[deeper than can be read]");
	assert_label(&message, sample, "context_source", "");
	message_free(&message);
}

static void counts(void **state)
{
	static const char *const wanted[] = {"#lost\t3", "#servers\t4", "#no_request\t1\tnone-open",
					     "#requests\t1\tshop\tGET /a"};
	struct message message = make(false, false);
	const Perftools__Profiles__Profile *profile = message.profile;

	(void)state;
	assert_int_equal(profile->n_comment, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < profile->n_comment; i++)
		assert_string_equal(message_text(&message, profile->comment[i]), wanted[i]);
	message_free(&message);
}

static void drawn(void **state)
{
	struct message message = make(false, false);

	(void)state;
	assert_folded(&message, "(no request);app;[deeper than can be read];main;do_syscall_64 1\n"
				"shop GET /a;app;main;work 3\n");
	message_free(&message);
	message = make(true, false);
	assert_int_equal(find(&message, "GET /a", "", "blocked")->value[2], BLOCKED);
	assert_folded(&message,
		      "(no request);app;[deeper than can be read];main;do_syscall_64 10000000\n"
		      "shop GET /a;app;main;work 30000000\n"
		      "shop GET /a;app;main;work;[blocked] 7000\n");
	message_free(&message);
}

static void filtered(void **state)
{
	const struct message_filter tenant = {.label = {"tenant=a*"}, .labels = 1},
				    trace = {.trace = "01"}, other = {.trace = "02"},
				    none = {.endpoint = ENDPOINT_NONE};
	const struct {
		const struct message_filter *filter;
		size_t samples, comments;
	} all[] = {{&tenant, 1, 3}, {&trace, 2, 3}, {&other, 0, 3}, {&none, 1, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct message message = make(false, true);

		assert_int_equal(message_filter(&message, all[i].filter), 0);
		assert_int_equal(message.profile->n_sample, all[i].samples);
		assert_int_equal(message.profile->n_comment, all[i].comments);
		message_free(&message);
	}
}

/* What is written is read again as it was. */
static void written(void **state)
{
	struct message message = make(true, true), again;
	char why[MESSAGE_WHY_MAX], *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	(void)state;
	assert_int_equal(message_write(&message, out), 0);
	fclose(out);
	assert_int_equal(message_parse((const __u8 *)bytes, size, &again, why), 0);
	assert_int_equal(again.profile->n_sample, message.profile->n_sample);
	assert_label(&again, find(&again, "GET /a", "acme", ""), "span_id", "0200000000000000");
	message_free(&again);
	message_free(&message);
	free(bytes);
}

/* The store has one request. */
static int set_up(void **state)
{
	static const char sql[] =
	    "INSERT INTO services (id, name, container) VALUES (1, 'shop', '');"
	    "INSERT INTO spans (trace_id, span_id, kind, start_ns, duration_ns, service_id, method,"
	    " route, status, outcome, error, local_address, local_port, remote_address,"
	    " remote_port, netns, pid, reused, forwarded)"
	    " VALUES (x'01000000000000000000000000000000', x'0200000000000000', 2, 1000, 500, 1,"
	    " 'GET', '/a', 200, 'ok', 0, '', 1, '', 2, 1, 4711, 0, 0)";

	(void)state;
	return sqlite3_open(":memory:", &db) != SQLITE_OK || schema_bring_up(db) ||
	       sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK;
}

static int tear_down(void **state)
{
	(void)state;
	return sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(labels),   cmocka_unit_test(counts),  cmocka_unit_test(drawn),
	    cmocka_unit_test(filtered), cmocka_unit_test(written),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
