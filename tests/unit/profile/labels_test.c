// SPDX-License-Identifier: Apache-2.0
/* How labels of several sources become one set; where Go keeps its own; what is registered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/take/labels.h"
#include "profile/take/process_context.h"
#include "profile/take/sources.h"
#include "runtimes/go/labels.h"

#define TEXT_MAX 1024

static struct profile_sample sample;
static const struct registered registered = {
    .count = 2,
    .entry = {{.program = "/bin/x", .symbol = "s", .label = "shard"},
	      {.program = "/bin/x", .symbol = "n", .label = "name", .is_text = true}}};

static struct profile_label *label(__u8 source, const char *key, const char *value)
{
	struct profile_label *raw =
	    (void *)(sample.frame + sample.label_count++ * PROFILE_LABEL_WORDS);

	*raw = (struct profile_label){.source = source};
	memcpy(raw->key, key, strlen(key));
	memcpy(raw->value, value, strlen(value));
	return raw;
}

/* As a callback of labels_each(), with room for TEXT_MAX bytes. */
static int print(const char *key, const char *value, void *data)
{
	const size_t used = strlen(data);

	snprintf((char *)data + used, TEXT_MAX - used, "%s=%s;", key, value);
	return 0;
}

static void check(struct labels *labels, const struct process_context *context, const char *wanted)
{
	char text[TEXT_MAX] = "";
	size_t room = TEXT_MAX;
	long set = labels_of(labels, &registered, context, &sample, &room);

	labels_each(labels, set, print, text);
	assert_string_equal(text, wanted);
	sample = (struct profile_sample){};
}

/* The first source decides, and within one the first label, but of OTEP 4947 the last. */
static void merging(void **state)
{
	struct labels labels = {};
	static const struct process_context context = {.knows_schema = true, .key[3] = "route"};

	(void)state;
	check(&labels, NULL, "");
	label(PROFILE_SOURCE_GO, "b", "go");
	label(PROFILE_SOURCE_CUSTOM, "a", "1");
	label(PROFILE_SOURCE_CUSTOM, "b", "custom");
	label(PROFILE_SOURCE_CUSTOM, "a", "2");
	check(&labels, NULL, "a=1;b=go;");
	assert_int_equal(labels.conflicts, 1);
	label(PROFILE_SOURCE_OTEL, "", "/a")->number = 3;
	label(PROFILE_SOURCE_OTEL, "", "/b")->number = 3;
	label(PROFILE_SOURCE_OTEL, "", "x")->number = 4;
	check(&labels, &context, "route=/b;");
	assert_int_equal(labels.unnamed, 1);
	label(PROFILE_SOURCE_OTEL, "", "/a")->number = 3;
	check(&labels, NULL, "");
	labels_free(&labels);
}

static void registrations(void **state)
{
	struct labels labels = {};
	const __u64 number = 18446744073709551615ULL;

	(void)state;
	memcpy(label(PROFILE_SOURCE_REGISTERED, "", "")->value, &number, sizeof(number));
	label(PROFILE_SOURCE_REGISTERED, "", "four")->number = 1;
	label(PROFILE_SOURCE_REGISTERED, "", "none")->number = 2;
	check(&labels, NULL, "name=four;shard=18446744073709551615;");
	labels_free(&labels);
}

/* What is cut ends with a whole character; what parts texts is not in them. */
static void texts(void **state)
{
	struct labels labels = {};

	(void)state;
	label(PROFILE_SOURCE_CUSTOM, "a", "12\xe2\x82")->cut = 1;
	label(PROFILE_SOURCE_CUSTOM, "b", "12\xc3\xa4")->cut = 1;
	label(PROFILE_SOURCE_CUSTOM, "c",
	      "1\xff"
	      "2");
	label(PROFILE_SOURCE_CUSTOM, "d\x1f", "1\x1e");
	check(&labels, NULL,
	      "a=12;b=12\xc3\xa4;c=1\xef\xbf\xbd"
	      "2;d\xef\xbf\xbd=1\xef\xbf\xbd;");
	assert_int_equal(labels.cut, 2);
	for (char key[] = "a"; sample.label_count < PROFILE_LABELS_MAX + 1; key[0]++)
		label(PROFILE_SOURCE_CUSTOM, key, "");
	check(&labels, NULL, "a=;b=;c=;d=;e=;f=;g=;h=;i=;j=;");
	assert_int_equal(labels.left_out, 1);
	labels_free(&labels);
}

/* A program whose labels are new ones each time has room for some, and keeps those that it had. */
static void endless(void **state)
{
	struct labels labels = {};
	size_t room = TEXT_MAX, taken = 0;
	char value[] = "0000";

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(value, sizeof(value), "%d", i);
		label(PROFILE_SOURCE_CUSTOM, "a", value);
		taken += labels_of(&labels, &registered, NULL, &sample, &room) > 0;
		sample = (struct profile_sample){};
	}
	assert_in_range(taken, 5, TEXT_MAX / 64);
	assert_int_equal(labels.crowded, 1000 - taken);
	assert_int_equal(labels.sets.count, 1 + taken);
	check(&labels, NULL, "");
	label(PROFILE_SOURCE_CUSTOM, "a", "0");
	assert_int_equal(labels_of(&labels, &registered, NULL, &sample, &(size_t){0}), 1);
	sample = (struct profile_sample){};
	labels_free(&labels);
}

static void sources(void **state)
{
	__u32 left = PROFILE_SOURCES_OWN;

	(void)state;
	assert_int_equal(sources_without("go,custom", &left), 0);
	assert_int_equal(left, PROFILE_SOURCES_OWN &
				   ~(1U << PROFILE_SOURCE_GO | 1U << PROFILE_SOURCE_CUSTOM));
	assert_int_equal(sources_without("all", &left), 0);
	assert_int_equal(left, 0);
	assert_true(sources_without("perl", &left) < 0);
	assert_true(sources_without("", &left) < 0);
}

/* By the table of versions; newer ones than the last known are not read. */
static void go_versions(void **state)
{
	(void)state;
	assert_int_equal(golang_labels_of(17).form, PROFILE_GO_NONE);
	assert_int_equal(golang_labels_of(19).labels, 360);
	assert_int_equal(golang_labels_of(22).labels, 344);
	assert_int_equal(golang_labels_of(23).form, PROFILE_GO_MAP);
	assert_int_equal(golang_labels_of(24).form, PROFILE_GO_SLICE);
	assert_int_equal(golang_labels_of(25).curg, 184);
	assert_int_equal(golang_labels_of(27).labels, 352);
	assert_int_equal(golang_labels_of(28).form, PROFILE_GO_NONE);
}

static void registry(void **state)
{
	char path[] = "/tmp/ctxprop-labels-XXXXXX";
	struct registered written = registered, read;
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	assert_int_equal(registered_write(path, &written), 0);
	assert_int_equal(registered_read(path, &read), 0);
	assert_memory_equal(&read, &written, sizeof(read));
	assert_int_equal(registered_remove(&read, "/bin/x", "shard"), 1);
	assert_int_equal(registered_remove(&read, "/bin/y", NULL), 0);
	assert_string_equal(read.entry[0].label, "name");
	assert_int_equal(truncate(path, 20), 0);
	assert_int_equal(registered_read(path, &read), -EINVAL);
	unlink(path);
	assert_int_equal(registered_read(path, &read), 0);
	assert_int_equal(read.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(merging),  cmocka_unit_test(registrations),
	    cmocka_unit_test(texts),    cmocka_unit_test(endless),
	    cmocka_unit_test(sources),  cmocka_unit_test(go_versions),
	    cmocka_unit_test(registry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
