// SPDX-License-Identifier: Apache-2.0
/* Since when a module is loaded, out of memory as glibc keeps it: this test's own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <unistd.h>

#include "profile/take/thread_generation.h"

struct entry {
	uint64_t generation, map;
};

struct list {
	uint64_t count;
	struct list *next;
	struct entry entry[3];
};

static struct list second = {3, NULL, {{0, 0}, {7, 1}, {9, 0}}};
static struct list first = {3, &second, {{0, 0}, {0, 1}, {4, 1}}};

/* The linker's data: the list is somewhere in them. */
static struct {
	uint64_t others[5];
	struct list *list;
} data = {.list = &first};
static void *linker = &data;
static const uint32_t field[] = {64, 1, 5 * sizeof(uint64_t)};

static __u64 address_of(const void *at)
{
	return (__u64)(uintptr_t)at;
}

/* What is found out about a module of a process whose libc has these places. */
static struct profile_tls found(__u32 module, __u64 linker_at, __u64 field_at)
{
	const struct thread_file libc = {.linker = linker_at, .modules = field_at};
	const struct thread_module loaded = {.file = &libc};
	const struct thread_modules modules = {
	    .reader = proc_reader_new(), .module = &loaded, .count = 1};
	struct profile_tls tls = {.model = PROFILE_TLS_GLIBC, .module = module};

	assert_non_null(modules.reader);
	assert_int_equal(proc_reader_begin(modules.reader, (__u32)getpid()), 0);
	thread_generation_find(&modules, &tls);
	proc_reader_free(modules.reader);
	return tls;
}

static struct profile_tls found_here(__u32 module)
{
	return found(module, address_of(&linker), address_of(field));
}

static void modules_of_both_lists_are_found(void **state)
{
	struct profile_tls tls = found_here(2);

	(void)state;
	assert_int_equal(tls.generation, 4);
	assert_int_equal(tls.generation_at, address_of(&first.entry[2]));
	tls = found_here(4);
	assert_int_equal(tls.generation, 7);
	assert_int_equal(tls.generation_at, address_of(&second.entry[1]));
}

static void one_of_the_beginning_has_generation_0(void **state)
{
	const struct profile_tls tls = found_here(1);

	(void)state;
	assert_int_equal(tls.generation, 0);
	assert_int_equal(tls.generation_at, address_of(&first.entry[1]));
}

static void closed_and_unknown_modules_are_not_found(void **state)
{
	(void)state;
	assert_int_equal(found_here(5).generation_at, 0);
	assert_int_equal(found_here(6).generation_at, 0);
	assert_int_equal(found_here(60000).generation_at, 0);
}

static void a_libc_that_does_not_tell_is_none(void **state)
{
	(void)state;
	assert_int_equal(found(2, 0, address_of(field)).generation_at, 0);
	assert_int_equal(found(2, address_of(&linker), 0).generation_at, 0);
	assert_int_equal(found(2, 8, address_of(field)).generation_at, 0);
	assert_int_equal(found(2, address_of(&linker), 8).generation_at, 0);
}

static void a_list_that_leads_to_itself_ends(void **state)
{
	(void)state;
	second.next = &first;
	assert_int_equal(found_here(60000).generation_at, 0);
	second.next = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(modules_of_both_lists_are_found),
	    cmocka_unit_test(one_of_the_beginning_has_generation_0),
	    cmocka_unit_test(closed_and_unknown_modules_are_not_found),
	    cmocka_unit_test(a_libc_that_does_not_tell_is_none),
	    cmocka_unit_test(a_list_that_leads_to_itself_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
