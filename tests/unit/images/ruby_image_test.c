// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both halves that read stacks of Ruby, over memory that is built as the sources of each version
 * say (ruby_memory.h): the BPF half (runtimes/ruby, compiled for user space) says which methods and
 * blocks a thread is at, user space says what they are called.
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
#include "ruby_memory.h"
#include "runtimes/ruby/names.h"

static struct image image;
struct image *user_image = &image;
struct runtime user_runtime;

static enum ruby_code_layout layouts[] = {RUBY_CODE_3_0, RUBY_CODE_3_1, RUBY_CODE_3_2,
					  RUBY_CODE_3_3, RUBY_CODE_3_4};

/* The name of `ruby_wanted_frame[i]`. */
static const char *name_of(size_t i, bool with_class)
{
	static char text[2][NAMED_TEXT_MAX];

	snprintf(text[with_class], sizeof(text[0]), "%s%s%s%s", ruby_wanted_frame[i].before,
		 with_class ? ruby_wanted_frame[i].class : "", ruby_wanted_frame[i].base,
		 ruby_wanted_frame[i].file);
	return text[with_class];
}

/* `state`: the layout. */
static int build(void **state)
{
	ruby_memory_build(*(const enum ruby_code_layout *)*state);
	return 0;
}

static struct profile_sample taken(void)
{
	struct profile_sample sample = {};

	ruby_stack_take(&sample, &user_runtime);
	return sample;
}

static struct ruby_named named_in(const struct profile_sample *sample, size_t i)
{
	return ruby_unpack(sample->frame[2 * i] & ~PROFILE_NAMED_ENTRY, sample->frame[2 * i + 1]);
}

/* What function number i of a sample is called; "": that is not told, for the reason `*ret_err`. */
static const char *called(const struct profile_sample *sample, size_t i, char *text, int *ret_err)
{
	struct named_code code = {.layout = sample->named_layout,
				  .address = sample->frame[2 * i] & ~PROFILE_NAMED_ENTRY,
				  .check = sample->frame[2 * i + 1]};
	_cleanup_close_ int memory = image_memory(user_image);

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
	assert_int_equal(sample.named_count, RUBY_WANTED);
	assert_int_equal(sample.named_kind, RUNTIME_RUBY);
	for (size_t i = 0; i < RUBY_WANTED; i++) {
		assert_int_equal(named_in(&sample, i).code,
				 CODE + 0x1000 * (__u64)ruby_wanted_frame[i].code);
		assert_int_equal(!!(sample.frame[2 * i] & PROFILE_NAMED_ENTRY),
				 ruby_wanted_frame[i].entry);
		assert_string_equal(called(&sample, i, text, &err), name_of(i, ruby_has_classes()));
	}
}

/* Whatever cannot be read: there is nothing at all, or it is so, or has no name, or no class. */
static void what_cannot_be_read_makes_nothing_up(void **state)
{
	char text[NAMED_TEXT_MAX];
	size_t less = 0;

	(void)state;
	for (user_image->hidden = 0; user_image->hidden < user_image->words; user_image->hidden++) {
		struct profile_sample sample = taken();
		int err;

		assert_true(sample.named_count == RUBY_WANTED || sample.named_count == 0);
		less += !sample.named_count;
		for (size_t i = 0; i < sample.named_count; i++) {
			const char *name = called(&sample, i, text, &err);

			assert_int_equal(!!(sample.frame[2 * i] & PROFILE_NAMED_ENTRY),
					 ruby_wanted_frame[i].entry);
			assert_true(!*name || !strcmp(name, name_of(i, ruby_has_classes())) ||
				    !strcmp(name, name_of(i, false)));
			less += !*name;
		}
	}
	assert_true(less > RUBY_FRAMES);
}

static void assert_is_stale(const struct profile_sample *sample, __u64 address, __u64 value)
{
	struct image_word *word = image_find(user_image, address);
	const __u64 old = word->value;
	char text[NAMED_TEXT_MAX];
	int err;

	word->value = value;
	assert_string_equal(called(sample, 0, text, &err), "");
	assert_int_equal(err, -ESTALE);
	word->value = old;
	assert_string_equal(called(sample, 0, text, &err), name_of(0, ruby_has_classes()));
}

/* Other code at the same address, by whatever word it differs, has not the name of the first. */
static void other_code_is_told_apart(void **state)
{
	struct profile_sample sample = taken();

	(void)state;
	for (int i = 0; i < RUBY_BODY_WORDS; i++) {
		const __u64 at = CODE + BODY + 8 * (__u64)i, old = image_word(user_image, at);

		/* Another String, or the same one of another piece of code. */
		if (i == RUBY_BODY_LABEL || i == RUBY_BODY_PATH)
			assert_is_stale(&sample, at, old + 0x2000);
		else
			assert_is_stale(&sample, at, old + 1);
	}
}

/* Another class at the same address has not the name of the first. */
static void other_classes_are_told_apart(void **state)
{
	struct profile_sample sample = taken();

	(void)state;
	for (__u64 at = CLASS + 8; ruby_has_classes() && at < CLASS + 40; at += 8)
		assert_is_stale(&sample, at, image_word(user_image, at) + 64);
	if (user_runtime.ruby.code_layout >= RUBY_CODE_3_3)
		assert_is_stale(&sample, CLASS + 152, BASIC + NAME);
}

/* What the method's name is without its class, when a word is another one. */
static void assert_has_no_class(__u64 address, __u64 value)
{
	struct image_word *word = image_find(user_image, address);
	const __u64 old = word->value;
	struct profile_sample sample;
	char text[NAMED_TEXT_MAX];
	int err;

	word->value = value;
	sample = taken();
	for (size_t i = 0; i < RUBY_WANTED; i++)
		assert_string_equal(called(&sample, i, text, &err), name_of(i, false));
	word->value = old;
}

/* In doubt there is no class. */
static void classes_that_are_not_known_are_left_out(void **state)
{
	const __u64 text = CLASS + NAME + (ruby_is_new() ? 24 : 16);

	(void)state;
	assert_has_no_class(CLASS + NAME, 0x07); /* its name is no String */
	assert_has_no_class(text, (image_word(user_image, text) & ~0xffULL) | '#'); /* made up */
	if (ruby_has_outside_classes()) {
		assert_has_no_class(CLASS + ENTRIES + 56, NAME_OF_PATHS + 8); /* it has no name */
		assert_has_no_class(BASIC + ENTRIES + 64, CLASS + NAME); /* which one is unknown */
	} else {
		assert_has_no_class(CLASS + 144, 0); /* it may get another one */
	}
}

/* Code of a class's body, or of a program, has the label that it has. */
static void what_is_no_method_has_no_class(void **state)
{
	struct image_word *word = image_find(user_image, AROUND + 0x200 - 16);
	struct profile_sample sample;
	char text[NAMED_TEXT_MAX];
	int err;

	(void)state;
	word->value = METHODS; /* as if a method had read the program */
	sample = taken();
	assert_string_equal(called(&sample, 2, text, &err), name_of(2, false));
}

static void names_that_are_no_text_are_not_shown(void **state)
{
	static const char *const bad[] = {"a\nb", "a\x01", "\xc3(", "\xff"};
	struct profile_sample sample = taken();
	char text[NAMED_TEXT_MAX];
	int err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct image_word *word =
		    image_find(user_image, CODE + LABEL + (ruby_is_new() ? 24 : 16));
		const __u64 old = word->value;

		memcpy(&word->value, bad[i], strlen(bad[i]));
		assert_string_equal(called(&sample, 0, text, &err), "");
		assert_int_equal(err, -EINVAL);
		word->value = old;
	}
	/* No String any more. */
	image_find(user_image, CODE + LABEL)->value ^= 1;
	assert_string_equal(called(&sample, 0, text, &err), "");
	assert_int_equal(err, -EINVAL);
}

/* As with a version whose frames have another size. */
static void frames_that_do_not_end_where_the_stack_does_are_none(void **state)
{
	(void)state;
	image_find(user_image, CONTEXT + 8)->value += 1;
	assert_int_equal(taken().named_count, 0);
	image_find(user_image, CONTEXT + 8)->value -= 2;
	assert_int_equal(taken().named_count, 0);
}

/* Without all of them it is not known which belong to which call of the interpreter. */
static void a_deep_stack_is_not_cut(void **state)
{
	(void)state;
	image_find(user_image, CONTEXT + 16)->value = STACK;
	assert_int_equal(taken().named_count, 0);
	user_runtime.ruby.code_layout = RUBY_CODE_NONE;
	assert_int_equal(taken().named_count, 0);
}

/* clang-format off */
#define WITH(test, i) {#test " " #i, test, build, NULL, &layouts[i]}
/* clang-format on */
#define OF_ALL(test) WITH(test, 0), WITH(test, 1), WITH(test, 2), WITH(test, 3), WITH(test, 4)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    OF_ALL(methods_and_blocks_are_found),
	    OF_ALL(what_cannot_be_read_makes_nothing_up),
	    OF_ALL(other_code_is_told_apart),
	    OF_ALL(other_classes_are_told_apart),
	    OF_ALL(classes_that_are_not_known_are_left_out),
	    OF_ALL(what_is_no_method_has_no_class),
	    OF_ALL(names_that_are_no_text_are_not_shown),
	    OF_ALL(frames_that_do_not_end_where_the_stack_does_are_none),
	    OF_ALL(a_deep_stack_is_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
