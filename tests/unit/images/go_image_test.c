// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is read of the memory of a program in Go (runtimes/go, compiled for user space), over
 * recorded memory: the goroutine of a thread, whether one waits for another one, and labels. The
 * truth is what the program has told (record_go.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "runtimes/go/labels.bpf.h"
#include "runtimes/go/memory.bpf.h"

#include "runtimes/go/labels.h"

static struct image image;
struct image *user_image = &image;
struct runtime user_runtime;

/* As golang_inspect() fills it in, by the version and the program's tables. */
static const char *const waits[RUNTIME_WAITS] = {"runtime.chanrecv", "runtime.selectgo",
						 "sync.(*WaitGroup).Wait",
						 "sync.runtime_notifyListWait"};
static const char *const calls[RUNTIME_CALLS] = {
    "net/http.(*Transport).getConn", "net/http.(*persistConn).roundTrip",
    "net/http.(*bodyEOFSignal).Read", "net/http.(*bodyEOFSignal).Close",
    "net/http.(*bodyEOFSignal).condfn"};

static const struct image_place *place_of(const char *name)
{
	for (size_t i = 0; i < image.places; i++)
		if (!strcmp(image.place[i].name, name))
			return &image.place[i];
	fail_msg("the image has no %s", name);
	return NULL;
}

static struct runtime_code code_of(const char *name)
{
	const struct image_place *place = place_of(name);
	__u64 text = user_runtime.go.text;

	return place->end
		   ? (struct runtime_code){(__u32)(place->start - text), (__u32)(place->end - text)}
		   : (struct runtime_code){};
}

static int open_image(void **state)
{
	(void)state;
	if (image_open(IMAGES "/go-1.19.txt", &image))
		return -1;
	user_runtime = (struct runtime){.kind = RUNTIME_GO,
					.go = {.g_offset = GO_G_OFFSET,
					       .curg_offset = golang_labels_of(image.minor).curg,
					       .frame_offset = 104}};
	user_runtime.go.text = place_of("runtime.text")->start;
	for (size_t i = 0; i < RUNTIME_WAITS; i++)
		user_runtime.go.waits[i] = code_of(waits[i]);
	for (size_t i = 0; i < RUNTIME_CALLS && calls[i]; i++) /* it has no HTTP/2 */
		user_runtime.go.calls[i] = code_of(calls[i]);
	return 0;
}

/* The address of a goroutine, by the function that it is at. */
static __u64 goroutine_at(const char *function)
{
	for (size_t i = 0; i < image.count; i++)
		if (!strcmp(image.function[i].text, function))
			return image.function[i].code;
	fail_msg("the image has no goroutine at %s", function);
	return 0;
}

static void a_thread_is_at_its_goroutine(void **state)
{
	(void)state;
	assert_int_equal(goroutine_current(&user_runtime), goroutine_at("works"));
	assert_true(goroutine_is_likely());
}

/* The scheduler runs on a stack of its own, for the goroutine that the thread is at. */
static void also_while_the_scheduler_runs(void **state)
{
	struct image_word *g = image_find(&image, image.thread + GO_G_OFFSET);
	__u64 m;

	(void)state;
	assert_non_null(g);
	m = image_word(&image, g->value + GO_G_M);
	g->value = image_word(&image, m + GO_M_G0);
	assert_int_not_equal(g->value, goroutine_at("works"));
	assert_int_equal(goroutine_current(&user_runtime), goroutine_at("works"));
	assert_true(goroutine_is_likely());
}

static void another_program_is_not_likely(void **state)
{
	__u64 m = image_word(&image, goroutine_at("works") + GO_G_M);

	(void)state;
	image_find(&image, image_word(&image, m + GO_M_G0) + GO_G_M)->value += 8;
	assert_false(goroutine_is_likely());
}

/* Whatever cannot be read: none is found, but no other one. */
static void what_cannot_be_read_is_no_other_goroutine(void **state)
{
	size_t less = 0;

	(void)state;
	for (image.hidden = 0; image.hidden < image.words; image.hidden++) {
		__u64 found = goroutine_current(&user_runtime);

		assert_true(!found || found == goroutine_at("works"));
		less += !found;
	}
	assert_int_equal(less, 3); /* g, g.m, m.curg */
}

static void who_waits_for_others(void **state)
{
	(void)state;
	assert_int_equal(image.count, 9);
	for (size_t i = 0; i < image.count; i++)
		if (goroutine_waits(&user_runtime.go, image.function[i].code) !=
		    image.function[i].entry)
			fail_msg("%s", image.function[i].text);
}

/* A client of net/http waits in a select, too: for its own call. */
static void a_call_is_told_by_where_it_waits(void **state)
{
	(void)state;
	memset(user_runtime.go.calls, 0, sizeof(user_runtime.go.calls));
	assert_true(goroutine_waits(&user_runtime.go, goroutine_at("calls")));
	memset(user_runtime.go.waits, 0, sizeof(user_runtime.go.waits));
	assert_false(goroutine_waits(&user_runtime.go, goroutine_at("waitsForOneOfTwo")));
}

static struct profile_sample taken(void)
{
	struct profile_thread_data data = {.go = golang_labels_of(image.minor)};
	struct profile_sample sample = {};

	data.go.g = GO_G_OFFSET;
	go_labels(&sample, &data, image.thread);
	return sample;
}

/* Is this a label that the program has set, as far as there is room for it? */
static bool is_true(const struct profile_label *label)
{
	for (size_t i = 0; i < image.labels; i++) {
		const struct image_label *set = &image.label[i];
		size_t size = strlen(set->value);
		bool cut = size >= PROFILE_LABEL_VALUE;

		if (strcmp(label->key, set->key) != 0)
			continue;
		return !strncmp(label->value, set->value, PROFILE_LABEL_VALUE - 1) &&
		       label->value[PROFILE_LABEL_VALUE - 1] == '\0' && label->cut == cut &&
		       label->value_size == (cut ? PROFILE_LABEL_VALUE - 1 : size);
	}
	return false;
}

static const struct profile_label *label_of(const struct profile_sample *sample, size_t i)
{
	return (const void *)&sample->frame[i * PROFILE_LABEL_WORDS];
}

static void labels_are_those_of_the_program(void **state)
{
	struct profile_sample sample = taken();

	(void)state;
	assert_int_equal(sample.label_count, image.labels);
	assert_false(sample.labels_left_out);
	for (size_t i = 0; i < sample.label_count; i++) {
		assert_true(is_true(label_of(&sample, i)));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(label_of(&sample, i)->key,
						label_of(&sample, j)->key);
	}
}

static void labels_that_cannot_be_read_are_none(void **state)
{
	size_t less = 0;

	(void)state;
	for (image.hidden = 0; image.hidden < image.words; image.hidden++) {
		struct profile_sample sample = taken();

		assert_true(sample.label_count <= image.labels);
		for (size_t i = 0; i < sample.label_count; i++)
			assert_true(is_true(label_of(&sample, i)));
		less += sample.label_count < image.labels;
	}
	assert_true(less > image.labels); /* some word of each matters */
}

#define OF_IMAGE(test) cmocka_unit_test_setup(test, open_image)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    OF_IMAGE(a_thread_is_at_its_goroutine),
	    OF_IMAGE(also_while_the_scheduler_runs),
	    OF_IMAGE(another_program_is_not_likely),
	    OF_IMAGE(what_cannot_be_read_is_no_other_goroutine),
	    OF_IMAGE(who_waits_for_others),
	    OF_IMAGE(a_call_is_told_by_where_it_waits),
	    OF_IMAGE(labels_are_those_of_the_program),
	    OF_IMAGE(labels_that_cannot_be_read_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
