// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both halves that read stacks of Ruby, over memory that is built here as the sources of each
 * version say: the BPF half (runtimes/ruby, compiled for user space) says which methods and blocks
 * a thread is at, user space says what they are called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtimes/ruby/sample.bpf.h"

#include "base/cleanup.h"
#include "runtimes/ruby/names.h"

#define THREAD      0x10000ULL
#define CONTEXT     0x11000ULL
#define STACK       0x12000ULL /* of Ruby */
#define LOCALS      0x18000ULL /* of frame i at + 64 * i */
#define CODE        0x20000ULL /* piece i at + 0x1000 * i, its body, label and path behind it */
#define BODY        0x100
#define LABEL       0x200
#define PATH        0x300
#define TEXT        0x400 /* characters of the label, where they are outside */
#define ITEMS       0x600 /* of an Array, where they are outside */
#define STACK_WORDS 256ULL

/* Words of a frame's environment: what it is (vm_core.h, enum vm_frame_env_flags). */
#define METHOD  0x11110003ULL
#define BLOCK   0x22220001ULL
#define EVAL    0x77770001ULL
#define TOP     0x44440003ULL
#define C       0x55550083ULL
#define BLOCK_C 0x66660081ULL
#define DUMMY   0x79990003ULL
#define FINISH  0x20ULL

#define EMBEDDED 0x05ULL
#define OUTSIDE  (0x05ULL | 1 << 13)
#define ARRAY    0x07ULL

static struct image image;
struct image *user_image = &image;
struct runtime user_runtime;

static enum ruby_code_layout layouts[] = {RUBY_CODE_3_0, RUBY_CODE_3_1, RUBY_CODE_3_2};

/* From the innermost frame outwards; code: -1: none, else the number of its piece. */
static const struct frame {
	__u64 flags;
	int code, runs;
} frames[] = {
    {BLOCK | FINISH, 0, 1}, /* C has called the interpreter for it */
    {C, -1, 0},
    {METHOD, 1, 1},
    {BLOCK_C, 3, 1},       /* a function in C that is a block: what stands there is no code */
    {TOP | FINISH, 2, 0},  /* a library's first function */
    {EVAL | FINISH, 2, 1}, /* the program */
    {DUMMY | FINISH, 2, 1},
};
#define FRAMES (sizeof(frames) / sizeof(frames[0]))

/* What is to be found. */
static const struct wanted {
	int code, entry;
	const char *name;
} wanted[] = {
    {0, 1, "block in work\n/srv/app.rb\n7"},
    {1, 0, "work_of_a_long_name_that_stands_elsewhere\n/srv/app.rb\n14"},
    {2, 1, "<main>\n/srv/app.rb\n21"},
};
#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

static void put(__u64 address, __u64 value)
{
	assert_int_equal(image_add(&image, address, value), 0);
}

static void put_text(__u64 address, const char *text)
{
	const size_t length = strlen(text);

	for (size_t at = 0; at < length; at += sizeof(__u64)) {
		__u64 word = 0;

		memcpy(&word, text + at, length - at < sizeof(word) ? length - at : sizeof(word));
		put(address + at, word);
	}
}

/* A String; `outside`: where its characters are, or 0: they follow. */
static void put_string(__u64 object, const char *text, __u64 outside)
{
	const bool is_new = user_runtime.ruby.code_layout == RUBY_CODE_3_2;
	const size_t length = strlen(text);

	if (outside || is_new)
		put(object + 16, length);
	if (outside) {
		put(object, OUTSIDE);
		put(object + 24, outside);
	} else {
		put(object, EMBEDDED | (is_new ? 0 : length << 14));
	}
	put_text(outside ? outside : object + (is_new ? 24 : 16), text);
}

/* The path: an Array of two, which are in it or not, or a String. */
static void put_path(__u64 object, int kind)
{
	if (kind == 0) {
		put(object, ARRAY | 1 << 13 | 2 << 15);
		put(object + 16, object + 0x40);
	} else if (kind == 1) {
		put(object, ARRAY);
		put(object + 16, 2);
		put(object + 32, object - PATH + ITEMS);
		put(object - PATH + ITEMS, object + 0x40);
	}
	put_string(kind == 2 ? object : object + 0x40, "/srv/app.rb", 0);
}

/* Where the first line stands: an Integer, or an int with another one behind it. */
static __u64 line_word(int line)
{
	return user_runtime.ruby.code_layout == RUBY_CODE_3_2 ? 0x500000000ULL | (__u32)line
							      : 2 * (__u64)line + 1;
}

static __u64 body_word(__u64 code, int number, int i)
{
	switch (i) {
	case 8:
		return code + PATH;
	case 10:
		return code + LABEL;
	case 11:
		return line_word(7 * (number + 1));
	default:
		return (__u64)(100 * number + i);
	}
}

static void put_code(int number, const char *label)
{
	const __u64 code = CODE + 0x1000 * (__u64)number;

	put(code + 16, code + BODY);
	for (int i = 0; i < RUBY_BODY_WORDS; i++)
		put(code + BODY + 8 * (__u64)i, body_word(code, number, i));
	put_string(code + LABEL, label, strlen(label) > 20 ? code + TEXT : 0);
	put_path(code + PATH, number % 3);
}

static void put_frames(__u64 size)
{
	const __u64 end = STACK + 8 * STACK_WORDS, first = end - FRAMES * size;

	put(THREAD - 16, CONTEXT);
	put(CONTEXT, STACK);
	put(CONTEXT + 8, STACK_WORDS);
	put(CONTEXT + 16, first);
	for (size_t i = 0; i < FRAMES; i++) {
		const __u64 at = first + i * size, locals = LOCALS + 64 * i;

		put(at, frames[i].runs ? 0x1000 : 0);
		put(at + 8, STACK);
		put(at + 16, frames[i].code < 0 ? 0 : CODE + 0x1000 * (__u64)frames[i].code);
		put(at + 24, 8);
		put(at + 32, locals);
		put(locals, frames[i].flags);
	}
}

/* `state`: the layout. */
static int build(void **state)
{
	user_runtime = (struct runtime){.kind = RUNTIME_RUBY};
	user_runtime.ruby.offset = -16;
	user_runtime.ruby.code_layout = *(const enum ruby_code_layout *)*state;
	image = (struct image){.thread = THREAD, .hidden = IMAGE_WORDS_MAX};
	for (size_t i = 0; i < WANTED; i++) {
		const char *end = strchr(wanted[i].name, '\n');
		char label[64] = "";

		memcpy(label, wanted[i].name, (size_t)(end - wanted[i].name));
		put_code(wanted[i].code, label);
	}
	put_frames(user_runtime.ruby.code_layout == RUBY_CODE_3_1 ? 64 : 56);
	return 0;
}

static struct profile_sample taken(void)
{
	struct profile_sample sample = {};

	ruby_stack_take(&sample, &user_runtime);
	return sample;
}

/* What function number i of a sample is called; "": that is not told, for the reason `*ret_err`. */
static const char *called(const struct profile_sample *sample, size_t i, char *text, int *ret_err)
{
	struct named_code code = {.layout = sample->named_layout,
				  .address = sample->frame[2 * i] & ~PROFILE_NAMED_ENTRY,
				  .check = sample->frame[2 * i + 1]};
	_cleanup_close_ int memory = image_memory(&image);

	assert_true(memory >= 0);
	*ret_err = ruby_names.read(memory, &code, text);
	return *ret_err ? "" : text;
}

static void methods_and_blocks_are_found(void **state)
{
	struct profile_sample sample = taken();
	char text[NAMED_TEXT_MAX];
	int err;

	(void)state;
	assert_int_equal(sample.named_count, WANTED);
	assert_int_equal(sample.named_kind, RUNTIME_RUBY);
	for (size_t i = 0; i < WANTED; i++) {
		assert_int_equal(sample.frame[2 * i] & ~PROFILE_NAMED_ENTRY,
				 CODE + 0x1000 * (__u64)wanted[i].code);
		assert_int_equal(!!(sample.frame[2 * i] & PROFILE_NAMED_ENTRY), wanted[i].entry);
		assert_string_equal(called(&sample, i, text, &err), wanted[i].name);
	}
}

/* Whatever cannot be read: there is nothing at all, or it is so, or has no name. */
static void what_cannot_be_read_makes_nothing_up(void **state)
{
	char text[NAMED_TEXT_MAX];
	size_t less = 0;

	(void)state;
	for (image.hidden = 0; image.hidden < image.words; image.hidden++) {
		struct profile_sample sample = taken();
		int err;

		assert_true(sample.named_count == WANTED || sample.named_count == 0);
		less += !sample.named_count;
		for (size_t i = 0; i < sample.named_count; i++) {
			const char *name = called(&sample, i, text, &err);

			assert_int_equal(!!(sample.frame[2 * i] & PROFILE_NAMED_ENTRY),
					 wanted[i].entry);
			assert_true(!*name || !strcmp(name, wanted[i].name));
			less += !*name;
		}
	}
	assert_true(less > FRAMES);
}

/* Other code at the same address, by whatever word it differs, has not the name of the first. */
static void other_code_is_told_apart(void **state)
{
	struct profile_sample sample = taken();
	char text[NAMED_TEXT_MAX];
	int err;

	(void)state;
	for (int i = 0; i < RUBY_BODY_WORDS; i++) {
		struct image_word *word = image_find(&image, CODE + BODY + 8 * (__u64)i);
		const __u64 old = word->value;

		/* Another String, or the same one of another piece of code. */
		word->value = i == RUBY_BODY_LABEL || i == RUBY_BODY_PATH ? old + 0x2000 : old + 1;
		assert_string_equal(called(&sample, 0, text, &err), "");
		assert_int_equal(err, -ESTALE);
		word->value = old;
	}
	assert_string_equal(called(&sample, 0, text, &err), wanted[0].name);
}

static void names_that_are_no_text_are_not_shown(void **state)
{
	static const char *const bad[] = {"a\nb", "a\x01", "\xc3(", "\xff"};
	const bool is_new = user_runtime.ruby.code_layout == RUBY_CODE_3_2;
	struct profile_sample sample = taken();
	char text[NAMED_TEXT_MAX];
	int err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct image_word *word = image_find(&image, CODE + LABEL + (is_new ? 24 : 16));
		const __u64 old = word->value;

		memcpy(&word->value, bad[i], strlen(bad[i]));
		assert_string_equal(called(&sample, 0, text, &err), "");
		assert_int_equal(err, -EINVAL);
		word->value = old;
	}
	/* No String any more. */
	image_find(&image, CODE + LABEL)->value ^= 1;
	assert_string_equal(called(&sample, 0, text, &err), "");
	assert_int_equal(err, -EINVAL);
}

/* As with a version whose frames have another size. */
static void frames_that_do_not_end_where_the_stack_does_are_none(void **state)
{
	(void)state;
	image_find(&image, CONTEXT + 8)->value += 1;
	assert_int_equal(taken().named_count, 0);
	image_find(&image, CONTEXT + 8)->value -= 2;
	assert_int_equal(taken().named_count, 0);
}

/* Without all of them it is not known which belong to which call of the interpreter. */
static void a_deep_stack_is_not_cut(void **state)
{
	(void)state;
	image_find(&image, CONTEXT + 16)->value = STACK;
	assert_int_equal(taken().named_count, 0);
	user_runtime.ruby.code_layout = RUBY_CODE_NONE;
	assert_int_equal(taken().named_count, 0);
}

/* clang-format off */
#define WITH(test, i) {#test " " #i, test, build, NULL, &layouts[i]}
/* clang-format on */
#define OF_ALL(test) WITH(test, 0), WITH(test, 1), WITH(test, 2)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    OF_ALL(methods_and_blocks_are_found),
	    OF_ALL(what_cannot_be_read_makes_nothing_up),
	    OF_ALL(other_code_is_told_apart),
	    OF_ALL(names_that_are_no_text_are_not_shown),
	    OF_ALL(frames_that_do_not_end_where_the_stack_does_are_none),
	    OF_ALL(a_deep_stack_is_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
