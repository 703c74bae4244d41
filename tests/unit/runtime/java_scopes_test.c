// SPDX-License-Identifier: Apache-2.0
/* Methods that were put into others, over what HotSpot keeps of its code, built in this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtimes/java/scopes.h"

#define CODE   64 /* where the code begins in the blob */
#define PLACES 4

/* PcDesc */
struct place {
	__s32 code, data, objects, flags;
};

/* The tables of one blob, in it (until Java 22). */
struct within {
	const void *method;
	const __u8 *code;
	const __u8 *data;
	__u32 places_offset, places_end, methods_offset;
	__u8 bytes[CODE];
	const void *methods[3];
	struct place place[PLACES];
};

/* The tables of one blob, in memory of their own (Java 25). */
struct apart {
	const void *method, *own_memory, *other_memory;
	__u32 places_offset, data_offset, relocations, code_offset;
};

static struct {
	struct place place[PLACES];
	__u8 data[64];
} own;

static struct {
	__u64 relocations[2];
	const void *methods[3];
} other;

static const __u8 outer[1], middle[1], inner[1];

static const struct java_code code_within = {
    .code_begin = offsetof(struct within, code),
    .method = offsetof(struct within, method),
    .scopes = {.compilation = 1,
	       .places = offsetof(struct within, places_offset),
	       .places_end = offsetof(struct within, places_end),
	       .data = offsetof(struct within, data),
	       .methods = offsetof(struct within, methods_offset)},
};

static const struct java_code code_apart = {
    .code_offset = offsetof(struct apart, code_offset),
    .method = offsetof(struct apart, method),
    .scopes = {.compilation = 1,
	       .own_memory = offsetof(struct apart, own_memory),
	       .places = offsetof(struct apart, places_offset),
	       .places_end = offsetof(struct apart, data_offset),
	       .data = offsetof(struct apart, data_offset),
	       .methods = offsetof(struct apart, relocations),
	       .methods_at = offsetof(struct apart, other_memory),
	       .first_byte = 1},
};

/*
 * Scopes as numbers: of the caller's data, of the method, of the bytecode; the latter is not looked
 * at. The second one's caller is at 200, which takes two bytes.
 */
static const __u8 numbers[256] = {
    [1] = 0,     [2] = 1,   [3] = 7,             /* the compiled method */
    [10] = 1,    [11] = 2,  [12] = 9,            /* put into that */
    [20] = 0xc8, [21] = 0,  [22] = 3,  [23] = 1, /* put into what is at 200 */
    [200] = 10,  [201] = 2, [202] = 2,           /* put into the second */
    [30] = 30,   [31] = 1,  [32] = 1,            /* put into itself */
    [40] = 0,    [41] = 2,  [42] = 1,            /* another one than was compiled */
};

static struct within within;

static int build(void **state)
{
	(void)state;
	within = (struct within){
	    .method = outer,
	    .code = within.bytes,
	    .data = numbers,
	    .places_offset = offsetof(struct within, place),
	    .places_end = sizeof(within),
	    .methods_offset = offsetof(struct within, methods),
	    .methods = {outer, middle, inner},
	    .place = {{.code = -1}, {.code = 8, .data = 1}, {.code = 16, .data = 20}},
	};
	within.place[3] = (struct place){.code = 32, .data = 10};
	return 0;
}

static size_t read_within(__u32 called, __u64 *ret_methods)
{
	_cleanup_close_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	assert_true(memory >= 0);
	return java_scopes_read(memory, &code_within, (uintptr_t)&within,
				(__u32)offsetof(struct within, bytes) + called, ret_methods);
}

static void a_method_by_itself(void **state)
{
	__u64 method[JAVA_SCOPES_MAX];

	(void)state;
	assert_int_equal(read_within(8, method), 1);
	assert_int_equal(method[0], (uintptr_t)outer);
}

static void a_method_in_others(void **state)
{
	__u64 method[JAVA_SCOPES_MAX];

	(void)state;
	assert_int_equal(read_within(32, method), 2);
	assert_int_equal(method[0], (uintptr_t)middle);
	assert_int_equal(method[1], (uintptr_t)outer);
	assert_int_equal(read_within(16, method), 4);
	assert_int_equal(method[0], (uintptr_t)inner);
	assert_int_equal(method[1], (uintptr_t)middle);
	assert_int_equal(method[2], (uintptr_t)middle);
	assert_int_equal(method[3], (uintptr_t)outer);
}

/* Only where it calls is told. */
static void places_between(void **state)
{
	__u64 method[JAVA_SCOPES_MAX];

	(void)state;
	assert_int_equal(read_within(0, method), 0);
	assert_int_equal(read_within(9, method), 0);
	assert_int_equal(read_within(15, method), 0);
	assert_int_equal(read_within(33, method), 0);
}

static void what_makes_no_sense(void **state)
{
	__u64 method[JAVA_SCOPES_MAX];

	(void)state;
	within.place[1].data = 30;
	assert_int_equal(read_within(8, method), 0);
	within.place[1].data = 40;
	assert_int_equal(read_within(8, method), 0);
	within.place[1].data = 0;
	assert_int_equal(read_within(8, method), 0);
	within.places_end = 0;
	assert_int_equal(read_within(16, method), 0);
}

/* Since Java 20 each byte of a number counts one less. */
static void tables_of_their_own(void **state)
{
	static struct apart apart = {.method = outer,
				     .own_memory = &own,
				     .other_memory = &other,
				     .places_offset = offsetof(__typeof__(own), place),
				     .data_offset = offsetof(__typeof__(own), data),
				     .relocations = sizeof(other.relocations),
				     .code_offset = CODE};
	_cleanup_close_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	__u64 method[JAVA_SCOPES_MAX];

	(void)state;
	memcpy(other.methods, (const void *[]){outer, middle, inner}, sizeof(other.methods));
	memcpy(own.data, (const __u8[]){9, 1, 2, 5, 2, 4, 5}, 7);
	own.place[PLACES - 1] = (struct place){.code = 8, .data = 4};
	assert_int_equal(java_scopes_read(memory, &code_apart, (uintptr_t)&apart, CODE + 8, method),
			 2);
	assert_int_equal(method[0], (uintptr_t)inner);
	assert_int_equal(method[1], (uintptr_t)outer);
	/* A byte that is 0 is in no number. */
	own.data[4] = 0;
	assert_int_equal(java_scopes_read(memory, &code_apart, (uintptr_t)&apart, CODE + 8, method),
			 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_method_by_itself, build),
	    cmocka_unit_test_setup(a_method_in_others, build),
	    cmocka_unit_test_setup(places_between, build),
	    cmocka_unit_test_setup(what_makes_no_sense, build),
	    cmocka_unit_test_setup(tables_of_their_own, build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
