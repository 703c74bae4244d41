// SPDX-License-Identifier: Apache-2.0
/* Messages of pprof, as they are read, and rules that are applied to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "profile/message/path.h"
#include "profile/message/pprof_types.h"
#include "profile/message/tags.h"

/* Texts by number; types are "samples" and "cpu", functions "main", "work" and "idle". */
enum { NONE, SAMPLES, COUNT, CPU, NANOSECONDS, MAIN, WORK, IDLE, TEXTS };
static char *texts[] = {"", "samples", "count", "cpu", "nanoseconds", "main", "work", "idle"};

#define FIRST_ID 40 /* of locations and functions: not their place */

/* main > work twice, and main > idle once; 10 ns each. */
static struct message made(void)
{
	static uint64_t work[] = {FIRST_ID + 1, FIRST_ID}, idle[] = {FIRST_ID + 2, FIRST_ID};
	static int64_t values[][2] = {{2, 20}, {1, 10}};
	static Function function[3], *functions[3];
	static Location location[3], *locations[3];
	static Line line[3], *lines[3];
	static Sample sample[2], *samples[2];
	static ValueType type[2], *types[2];
	static Profile profile;

	perftools__profiles__profile__init(&profile);
	for (size_t i = 0; i < 2; i++) {
		perftools__profiles__value_type__init(types[i] = &type[i]);
		type[i].type = i ? CPU : SAMPLES;
		type[i].unit = i ? NANOSECONDS : COUNT;
		perftools__profiles__sample__init(samples[i] = &sample[i]);
		sample[i].n_location_id = sample[i].n_value = 2;
		sample[i].location_id = i ? idle : work;
		sample[i].value = values[i];
	}
	for (size_t i = 0; i < 3; i++) {
		perftools__profiles__function__init(functions[i] = &function[i]);
		perftools__profiles__location__init(locations[i] = &location[i]);
		perftools__profiles__line__init(lines[i] = &line[i]);
		function[i].id = location[i].id = line[i].function_id = FIRST_ID + i;
		function[i].name = MAIN + (int64_t)i;
		location[i].n_line = 1;
		location[i].line = &lines[i];
	}
	profile.n_string_table = TEXTS;
	profile.string_table = texts;
	profile.n_sample_type = profile.n_sample = 2;
	profile.sample_type = types;
	profile.sample = samples;
	profile.n_function = profile.n_location = 3;
	profile.function = functions;
	profile.location = locations;
	return (struct message){.profile = &profile};
}

/* As a file of it is read. Returns what message_parse() does. */
static int parse(const struct message *from, struct message *ret, char *ret_why)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);
	int err;

	assert_non_null(out);
	assert_int_equal(message_write(from, out), 0);
	fclose(out);
	err = message_parse((const __u8 *)bytes, size, ret, ret_why);
	free(bytes);
	return err;
}

static struct message read_made(void)
{
	struct message from = made(), message;
	char why[MESSAGE_WHY_MAX];

	assert_int_equal(parse(&from, &message, why), 0);
	return message;
}

static void apply(struct message *message, const char *rules)
{
	char why[TAGS_WHY_MAX];
	struct tags *tags;

	assert_int_equal(tags_parse(rules, strlen(rules), &tags, why), 0);
	assert_int_equal(tags_apply(tags, message), 0);
	tags_free(tags);
}

static void reads(void **state)
{
	struct message message = read_made();
	const Sample *sample = message.profile->sample[0];
	struct message_weight weight = message_by_count(&message);
	struct message_path path = {};

	(void)state;
	assert_int_equal(message_weigh(&weight, sample), 2);
	weight = message_by_time(&message);
	assert_int_equal(message_weigh(&weight, sample), 20);
	assert_int_equal(sample->location_id[0], 2); /* its place plus 1 */
	assert_int_equal(message_path(&path, &message, sample, true), 0);
	assert_int_equal(path.count, 2);
	assert_string_equal(path.step[0].name, "main");
	assert_string_equal(path.step[1].name, "work");
	message_path_free(&path);
	message_free(&message);
}

/* Types of time are added up, and numbers of samples then say nothing. */
static void adds_times(void **state)
{
	struct message from = made(), message;
	char why[MESSAGE_WHY_MAX];
	struct message_weight weight;

	(void)state;
	from.profile->sample_type[0]->unit = NANOSECONDS;
	assert_int_equal(parse(&from, &message, why), 0);
	weight = message_by_count(&message);
	assert_int_equal(weight.times, 2);
	assert_int_equal(message_weigh(&weight, message.profile->sample[0]), 22);
	message_free(&message);
}

static void refuses(void **state)
{
	struct message from = made(), message;
	char why[MESSAGE_WHY_MAX];

	(void)state;
	from.profile->location[1]->line[0]->function_id = 1;
	assert_int_equal(parse(&from, &message, why), -EINVAL);
	assert_string_equal(why, "there is no function 1");
	from = made();
	from.profile->location[1]->id = FIRST_ID;
	assert_int_equal(parse(&from, &message, why), -EINVAL);
	assert_string_equal(why, "location 40 occurs twice, or has no id");
	from = made();
	from.profile->function[2]->name = TEXTS;
	assert_int_equal(parse(&from, &message, why), -EINVAL);
	assert_string_equal(why, "the name of a function refers to a missing string");
	from = made();
	from.profile->sample[1]->n_value = 1;
	assert_int_equal(parse(&from, &message, why), -EINVAL);
	assert_string_equal(why, "a sample has 1 values instead of 2");
}

static void tags(void **state)
{
	struct message message = read_made();

	(void)state;
	apply(&message, "match ^work$ tag first\nmatch ^main$ tag second\n");
	assert_string_equal(message_label(&message, message.profile->sample[0], "tag"), "first");
	assert_string_equal(message_label(&message, message.profile->sample[1], "tag"), "second");
	message_free(&message);
}

static void drops_and_folds(void **state)
{
	struct message message = read_made();
	struct message_path path = {};

	(void)state;
	apply(&message, "fold . as all\ndrop idle\n");
	assert_int_equal(message.profile->n_sample, 1);
	assert_int_equal(message_path(&path, &message, message.profile->sample[0], true), 0);
	assert_int_equal(path.count, 1);
	assert_string_equal(path.step[0].name, "all");
	message_path_free(&path);
	message_free(&message);
}

static void unpacks(void **state)
{
	static __u8 zeros[100000];
	__u8 *packed, *plain;
	size_t packed_size, size;

	(void)state;
	assert_int_equal(gzip(zeros, sizeof(zeros), &packed, &packed_size), 0);
	assert_int_equal(gunzip(packed, packed_size, sizeof(zeros), &plain, &size), 0);
	assert_int_equal(size, sizeof(zeros));
	assert_memory_equal(plain, zeros, size);
	free(plain);
	assert_int_equal(gunzip(packed, packed_size, sizeof(zeros) - 1, &plain, &size), -EFBIG);
	assert_int_equal(gunzip(packed, packed_size - 1, sizeof(zeros), &plain, &size), -EINVAL);
	packed[packed_size - 6] ^= 1; /* of its checksum */
	assert_int_equal(gunzip(packed, packed_size, sizeof(zeros), &plain, &size), -EINVAL);
	free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads), cmocka_unit_test(adds_times),      cmocka_unit_test(refuses),
	    cmocka_unit_test(tags),  cmocka_unit_test(drops_and_folds), cmocka_unit_test(unpacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
