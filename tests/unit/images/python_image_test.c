// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both halves that read stacks of Python, over recorded memory: the BPF half (runtimes/python,
 * compiled for user space) says which functions a thread is at, user space says what they are
 * called. The truth is what the interpreter itself has told (record.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtimes/python/sample.bpf.h"
#include "runtimes/python/stack.bpf.h"

#include "base/cleanup.h"
#include "runtimes/python/names.h"
#include "runtimes/python/offsets.h"

static struct image image;
struct image *user_image = &image;
struct runtime user_runtime;

/* `state`: the version. */
static int open_image(void **state)
{
	char path[256];

	snprintf(path, sizeof(path), IMAGES "/python-3.%u.txt", *(const unsigned int *)*state);
	user_runtime = (struct runtime){.kind = RUNTIME_PYTHON};
	if (image_open(path, &image) || python_layout_fill(image.minor, &user_runtime.python))
		return -1;
	user_runtime.python.key = image.key;
	return 0;
}

static struct profile_sample taken(void)
{
	struct profile_sample sample = {};

	python_stack_take(&sample, &user_runtime);
	return sample;
}

static __u64 code_of(const struct profile_sample *sample, size_t i)
{
	return sample->frame[2 * i] & ~PROFILE_NAMED_ENTRY;
}

static void functions_are_what_python_tells(void **state)
{
	struct profile_sample sample = taken();

	(void)state;
	assert_int_equal(sample.named_count, image.count);
	for (size_t i = 0; i < image.count; i++) {
		assert_int_equal(code_of(&sample, i), image.function[i].code);
		assert_int_equal(sample.frame[2 * i + 1], image.function[i].name);
		assert_int_equal(!!(sample.frame[2 * i] & PROFILE_NAMED_ENTRY),
				 image.function[i].entry);
	}
}

/* What a function of a sample is called; "": it cannot be told. */
static const char *called(int memory, const struct profile_sample *sample, size_t i, char *text)
{
	struct named_code code = {.layout = sample->named_layout,
				  .address = code_of(sample, i),
				  .check = sample->frame[2 * i + 1]};

	return python_names.read(memory, &code, text) ? "" : text;
}

/* The line of record.py's program at which a function begins. */
static unsigned int line_of(const char *name)
{
	static const struct {
		const char *name;
		unsigned int line;
	} lines[] = {
	    {"<module>", 1},
	    {"main", 37},
	    {"Service.answer", 5},
	    {"Service.rank_by_c", 8},
	    {"Service.deep", 14},
	    {"wait", 27},
	    {"Service.items_by_c", 11},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strcmp(lines[i].name, name))
			return lines[i].line;
	fail_msg("%s is not in the program", name);
	return 0;
}

static void names_are_what_python_tells(void **state)
{
	struct profile_sample sample = taken();
	_cleanup_close_ int memory = image_memory(&image);
	char text[NAMED_TEXT_MAX];

	(void)state;
	assert_true(memory >= 0);
	for (size_t i = 0; i < image.count; i++) {
		char wanted[IMAGE_NAME_SIZE + 32];

		snprintf(wanted, sizeof(wanted), "%s\n<string>\n%u", image.function[i].text,
			 line_of(image.function[i].text));
		assert_string_equal(called(memory, &sample, i, text), wanted);
	}
}

static int known_pair(__u64 code, __u64 name)
{
	for (size_t i = 0; i < image.count; i++)
		if (image.function[i].code == code && image.function[i].name == name)
			return 1;
	return 0;
}

/* Whatever cannot be read: less may be known, but nothing that is not so. */
static void what_cannot_be_read_makes_nothing_up(void **state)
{
	size_t less = 0;

	(void)state;
	for (image.hidden = 0; image.hidden < image.words; image.hidden++) {
		struct profile_sample sample = taken();

		for (size_t i = 0; i < sample.named_count; i++) {
			__u64 code = code_of(&sample, i), name = sample.frame[2 * i + 1];

			/* Without one of the two no name is looked for. */
			assert_true(!code || !name || known_pair(code, name));
			less += !code || !name;
		}
		less += sample.named_count < image.count;
		/* Where it is hidden of what kind a frame is, C's is one more. */
		assert_true(sample.named_count <= image.count + 1);
	}
	assert_true(less > image.count); /* of each function some word matters */
}

static struct python_begun begun(void)
{
	struct python_begun found = {};

	python_begins(1, &found);
	return found;
}

/* Threads are told apart by the functions at the bottom of their stacks, however deep these are. */
static void a_thread_is_known_by_what_it_began_with(void **state)
{
	__u64 frame = python_innermost(&user_runtime), before = user_runtime.python.frames.before;
	struct python_begun found = begun();
	__u64 *code;

	(void)state;
	assert_int_equal(found.code, image.function[image.count - 1].code);
	assert_int_not_equal(found.path, 0);
	/* Of what the innermost function is, nothing depends. */
	code = &image_find(&image, frame + user_runtime.python.frames.code)->value;
	*code += 16;
	assert_int_equal(begun().path, found.path);
	/* A stack without an end has no bottom. */
	image_find(&image, frame + before)->value = frame;
	assert_int_equal(begun().code, 0);
	assert_int_equal(begun().path, 0);
}

static void a_stack_that_leads_to_itself_ends(void **state)
{
	__u64 frame = python_innermost(&user_runtime);
	struct image_word *before = image_find(&image, frame + user_runtime.python.frames.before);

	(void)state;
	assert_non_null(before);
	before->value = frame;
	assert_int_equal(taken().named_count, PROFILE_NAMED_MAX);
}

static void the_state_of_another_thread_is_not_believed(void **state)
{
	(void)state;
	image_find(&image, task_thread_state(&user_runtime) + user_runtime.python.thread_offset)
	    ->value += 8;
	assert_int_equal(taken().named_count, 0);
}

static unsigned int versions[] = {11, 12, 13};

/* clang-format off */
#define WITH(test, version) {#test " 3." #version, test, open_image, NULL, &versions[(version) - 11]}
/* clang-format on */
#define OF_ALL(test) WITH(test, 11), WITH(test, 12), WITH(test, 13)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    OF_ALL(functions_are_what_python_tells),
	    OF_ALL(names_are_what_python_tells),
	    OF_ALL(what_cannot_be_read_makes_nothing_up),
	    OF_ALL(a_thread_is_known_by_what_it_began_with),
	    OF_ALL(a_stack_that_leads_to_itself_ends),
	    OF_ALL(the_state_of_another_thread_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
