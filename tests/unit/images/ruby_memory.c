// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "ruby_memory.h"

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

/* Objects of Ruby's own that say whose a method is: their first words. */
#define OF_CLASS_BODY 0x101aULL
#define OF_VARIABLES  0x201aULL
#define OF_METHOD     0x601aULL

/* From the innermost frame outwards; code: -1: none, else the number of its piece. */
static const struct frame {
	__u64 flags;
	int code, runs;
} frames[RUBY_FRAMES] = {
    {BLOCK | FINISH, 0, 1}, /* C has called the interpreter for it */
    {C, -1, 0},
    {METHOD, 1, 1},
    {BLOCK_C, 3, 1},       /* a function in C that is a block: what stands there is no code */
    {TOP | FINISH, 2, 0},  /* a library's first function */
    {EVAL | FINISH, 2, 1}, /* the program */
    {DUMMY | FINISH, 2, 1},
};

const struct ruby_wanted ruby_wanted_frame[RUBY_WANTED] = {
    {0, 1, "block in ", "Shop::Cart#", "work", "\n/srv/app.rb\n7"},
    {1, 0, "", "Shop::Cart.", "work_of_a_long_name_that_stands_elsewhere", "\n/srv/app.rb\n14"},
    {2, 1, "", "", "<main>", "\n/srv/app.rb\n21"},
};

bool ruby_has_outside_classes(void)
{
	return user_runtime.ruby.code_layout < RUBY_CODE_3_2;
}

bool ruby_has_classes(void)
{
	return user_runtime.ruby.code_layout != RUBY_CODE_3_2;
}

bool ruby_is_new(void)
{
	return user_runtime.ruby.code_layout >= RUBY_CODE_3_2;
}

static void put(__u64 address, __u64 value)
{
	assert_int_equal(image_add(user_image, address, value), 0);
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
	const size_t length = strlen(text);

	if (outside || ruby_is_new())
		put(object + 16, length);
	if (outside) {
		put(object, OUTSIDE);
		put(object + 24, outside);
	} else {
		put(object, EMBEDDED | (ruby_is_new() ? 0 : length << 14));
	}
	put_text(outside ? outside : object + (ruby_is_new() ? 24 : 16), text);
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
	return ruby_is_new() ? 0x500000000ULL | (__u32)line : 2 * (__u64)line + 1;
}

static __u64 body_word(__u64 code, int number, int i)
{
	switch (i) {
	case 8:
		return code + PATH;
	case 9:
		return code + BASE;
	case 10:
		return code + LABEL;
	case 11:
		return line_word(7 * (number + 1));
	default:
		return (__u64)(100 * number + i);
	}
}

static void put_code(const struct ruby_wanted *piece)
{
	const __u64 code = CODE + 0x1000 * (__u64)piece->code;
	char label[64];

	snprintf(label, sizeof(label), "%s%s", piece->before, piece->base);
	put(code + 16, code + BODY);
	for (int i = 0; i < RUBY_BODY_WORDS; i++)
		put(code + BODY + 8 * (__u64)i, body_word(code, piece->code, i));
	put_string(code + LABEL, label, strlen(label) > 20 ? code + TEXT : 0);
	put_string(code + BASE, piece->base, strlen(piece->base) > 20 ? code + BASE_TEXT : 0);
	put_path(code + PATH, piece->code % 3);
}

/* What stands before local variables, and with them. */
static void put_environment(__u64 locals, __u64 method, __u64 around, __u64 flags)
{
	put(locals - 16, method);
	put(locals - 8, around);
	put(locals, flags);
}

static void put_method(__u64 method, __u64 owner)
{
	put(method, OF_METHOD);
	for (__u64 at = 8; at < 32; at += 8)
		put(method + at, method + at);
	put(method + 32, owner);
}

/* Variables of a class: one that was taken away, another one, and `value`; before 3.2. */
static void put_variables(__u64 class, __u64 name, __u64 value)
{
	const __u64 entry[][3] = {{~0ULL, name, class}, {1, 0x1cc9, 8}, {2, name, value}};
	const size_t count = sizeof(entry) / sizeof(entry[0]);

	put(class + 24, class + MORE);
	put(class + 32, class / 16);
	put(class + MORE + 8, class + TABLE);
	put(class + TABLE + 40, count);
	put(class + TABLE + 48, class + ENTRIES);
	for (size_t i = 0; i < 3 * count; i++)
		put(class + ENTRIES + 8 * i, entry[i / 3][i % 3]);
}

/* A class; `value`: its name, or of a singleton class what that belongs to. */
static void put_class(__u64 class, __u64 flags, __u64 super, __u64 value)
{
	const bool is_singleton = class == SINGLETON;

	put(class, flags);
	put(class + 8, class == CLASS ? SINGLETON : class + 8);
	put(class + 16, super);
	if (ruby_has_outside_classes()) {
		put_variables(class, is_singleton ? 0x1cd1 : NAME_OF_PATHS, value);
		return;
	}
	put(class + 24, class + MORE);
	put(class + 32, 0);
	put(class + 128, is_singleton ? value : 0);
	put(class + 144, is_singleton ? 0 : 1ULL << 40); /* the name is for ever */
	put(class + 152, is_singleton ? 0 : value);
}

static void put_classes(void)
{
	const __u64 bit = user_runtime.ruby.code_layout == RUBY_CODE_3_4 ? 1 << 13 : 1 << 12;

	put_class(CLASS, 0x02, PARENT, CLASS + NAME);
	put_class(SINGLETON, 0x02 | bit, PARENT, CLASS);
	put(PARENT, 0x1c);
	put(PARENT + 16, BASIC);
	put_class(BASIC, 0x02, 0, BASIC + NAME);
	put_string(CLASS + NAME, "Shop::Cart", 0);
	put_string(BASIC + NAME, "BasicObject", 0);
	put_method(METHODS, CLASS);
	put_method(METHODS + 0x100, SINGLETON);
	put(METHODS + 0x200, OF_VARIABLES);
	put(METHODS + 0x208, METHODS);
	for (__u64 at = 0x210; at < 0x228; at += 8)
		put(METHODS + at, 8);
	for (__u64 at = 0x308; at < 0x328; at += 8)
		put(METHODS + at, CLASS);
	put(METHODS + 0x300, OF_CLASS_BODY);
}

/*
 * The block is in another one, which is in a method that has special variables; the program's code
 * is in no method.
 */
static void put_environments(void)
{
	put_environment(LOCALS, 0, AROUND | 1, frames[0].flags);
	put_environment(AROUND, METHODS + 0x300, (AROUND + 0x100) | 1, BLOCK);
	put_environment(AROUND + 0x100, METHODS + 0x200, 0, METHOD);
	put_environment(LOCALS + 64 * 2, METHODS + 0x100, 0, frames[2].flags);
	put_environment(LOCALS + 64 * 5, 0, AROUND + 0x200, frames[5].flags);
	put_environment(AROUND + 0x200, METHODS + 0x300, 0, TOP);
	for (size_t i = 0; i < RUBY_FRAMES; i++)
		if (i != 0 && i != 2 && i != 5)
			put_environment(LOCALS + 64 * i, METHODS, 0, frames[i].flags);
}

static void put_frames(__u64 size)
{
	const __u64 end = STACK + 8 * STACK_WORDS, first = end - RUBY_FRAMES * size;

	put(THREAD - 16, CONTEXT);
	put(CONTEXT, STACK);
	put(CONTEXT + 8, STACK_WORDS);
	put(CONTEXT + 16, first);
	for (size_t i = 0; i < RUBY_FRAMES; i++) {
		const __u64 at = first + i * size, locals = LOCALS + 64 * i;

		put(at, frames[i].runs ? 0x1000 : 0);
		put(at + 8, STACK);
		put(at + 16, frames[i].code < 0 ? 0 : CODE + 0x1000 * (__u64)frames[i].code);
		put(at + 24, 8);
		put(at + 32, locals);
	}
}

void ruby_memory_build(enum ruby_code_layout layout)
{
	user_runtime = (struct runtime){.kind = RUNTIME_RUBY};
	user_runtime.ruby.offset = -16;
	user_runtime.ruby.code_layout = layout;
	*user_image = (struct image){.thread = THREAD, .hidden = IMAGE_WORDS_MAX};
	for (size_t i = 0; i < RUBY_WANTED; i++)
		put_code(&ruby_wanted_frame[i]);
	put_classes();
	put_environments();
	put_frames(layout == RUBY_CODE_3_1 ? 64 : 56);
}
