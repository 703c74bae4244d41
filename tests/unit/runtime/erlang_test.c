// SPDX-License-Identifier: Apache-2.0
/* Programs of Erlang are known by what their emulator gives to native functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(by_both_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
