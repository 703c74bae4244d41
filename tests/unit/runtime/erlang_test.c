// SPDX-License-Identifier: Apache-2.0
/* Programs of Erlang are known by what their emulator gives to native functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "program.h"
#include "runtime/driver.h"

/* What an emulator has, in a program that is none: this one. */
void *enif_priv_data(void *env);
int erl_drv_thread_create(void);

void *enif_priv_data(void *env)
{
	return env;
}

int erl_drv_thread_create(void)
{
	return -1;
}

static const struct classified *nobody_knows(const struct stat *file, void *data)
{
	(void)file;
	(void)data;
	return NULL;
}

static void by_both_names(void **state)
{
	_cleanup_subject_ struct subject self = subject_of(getpid());
	struct classified found;

	(void)state;
	assert_int_equal(classify(&self, nobody_knows, NULL, &found), 0);
	assert_string_equal(runtime_driver_name(&found), "Erlang");
	assert_int_equal(found.runtime.kind, RUNTIME_UNSEEN);
}

extern const struct runtime_driver erlang_driver;

static int detected(const char *path)
{
	_cleanup_program_ struct program program = program_at(path);
	struct classified found = {};

	return erlang_driver.detect(NULL, program.image, &found);
}

/* What the others lack is all that there is to it. */
static void a_file_that_gives_both(void **state)
{
	(void)state;
	assert_int_equal(detected(FILES "erlang_both.so"), 0);
}

/* Libraries of native functions, which an emulator loads, and programs that have some for another
 * use. */
static void not_by_names_that_it_asks_for_or_keeps(void **state)
{
	(void)state;
	assert_int_equal(detected(FILES "erlang_asks.so"), -ENOENT);
	assert_int_equal(detected(FILES "erlang_hidden.so"), -ENOENT);
}

static void not_by_one_of_them(void **state)
{
	(void)state;
	assert_int_equal(detected(FILES "erlang_nifs.so"), -ENOENT);
	assert_int_equal(detected(FILES "erlang_drivers.so"), -ENOENT);
}

static void not_in_others(void **state)
{
	_cleanup_subject_ struct subject parent = subject_of(getppid());
	struct classified found;

	(void)state;
	assert_int_equal(detected("/bin/sh"), -ENOENT);
	assert_int_equal(classify(&parent, nobody_knows, NULL, &found), 0);
	assert_true(runtime_driver_of(&found) != &erlang_driver);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_both_names),
	    cmocka_unit_test(a_file_that_gives_both),
	    cmocka_unit_test(not_by_names_that_it_asks_for_or_keeps),
	    cmocka_unit_test(not_by_one_of_them),
	    cmocka_unit_test(not_in_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
