// SPDX-License-Identifier: Apache-2.0
/* Names of functions, as the sandbox finds them, held against those of this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "profile/names/code_file.h"

extern const char __executable_start[];

static __u32 address_of(int (*function)(void))
{
	return (__u32)((uintptr_t)function - (uintptr_t)__executable_start);
}

static __attribute__((noinline)) int first_function_of_the_test(void)
{
	return getpid();
}

static __attribute__((noinline)) int second_function_of_the_test(void)
{
	return getppid();
}

static void names(void **state)
{
	struct code_names *found = code_names_new();
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_non_null(found);
	found->address[0] = address_of(first_function_of_the_test);
	found->address[1] = address_of(first_function_of_the_test) + 1;
	found->address[2] = address_of(second_function_of_the_test);
	found->address[3] = 0xffffff00;
	found->count = 4;
	assert_int_equal(code_names_read(fd, found), 0);
	assert_string_equal(code_names_get(found, 0), "first_function_of_the_test");
	assert_string_equal(code_names_get(found, 1), "first_function_of_the_test");
	assert_string_equal(code_names_get(found, 2), "second_function_of_the_test");
	assert_null(code_names_get(found, 3));
	code_names_free(found);
	close(fd);
}

/* What has the same name begins and ends with the function. */
static void names_of_ranges(void **state)
{
	const __u32 address = address_of(first_function_of_the_test);
	struct code_names *found = code_names_new();
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	__u32 start, end;

	(void)state;
	assert_non_null(found);
	found->address[0] = address + 1;
	found->address[1] = 1; /* the file's header */
	found->count = 2;
	assert_int_equal(code_names_read(fd, found), 0);
	code_names_range(found, 0, &start, &end);
	assert_int_equal(start, address);
	assert_true(end > address + 1 && end < address + 4096);
	code_names_range(found, 1, &start, &end);
	assert_int_equal(start, 0);
	assert_true(end > 1 && end <= address);
	/* A sandbox that says what cannot be. */
	found->end[0] = address;
	code_names_range(found, 0, &start, &end);
	assert_int_equal(start, address + 1);
	assert_int_equal(end, address + 2);
	code_names_free(found);
	close(fd);
}

static void layout(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct code_file *file;
	__u64 address;

	(void)state;
	assert_int_equal(code_file_read(fd, &file), 0);
	assert_false(file->layout.frame_pointers);
	assert_true(file->row_count > 10);
	assert_int_equal(
	    code_layout_address(&file->layout, file->layout.segment[0].offset, &address), 0);
	assert_int_equal(address, file->layout.segment[0].address - file->layout.base);
	assert_int_not_equal(code_layout_address(&file->layout, 1ULL << 40, &address), 0);
	code_file_free(file);
	close(fd);
}

/* What is no program, or half of one. */
static void no_program(void **state)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), null = open("/dev/null", O_RDONLY);
	struct code_file *file;

	(void)state;
	assert_true(code_file_read(fd, &file) < 0);
	assert_true(code_file_read(null, &file) < 0);
	close(fd);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names),
	    cmocka_unit_test(names_of_ranges),
	    cmocka_unit_test(layout),
	    cmocka_unit_test(no_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
