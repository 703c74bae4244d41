// SPDX-License-Identifier: Apache-2.0
/* How .NET is known: by a library that a process loads, or by what its program has for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "program.h"
#include "runtimes/dotnet/dotnet.h"

static void by_its_library(void **state)
{
	_cleanup_program_ struct program own = program_of(getpid());
	_cleanup_subject_ struct subject before = subject_of(getpid());

	(void)state;
	assert_int_equal(dotnet_inspect(&before, own.image), -ENOENT);
	assert_non_null(dlopen(LIBRARY, RTLD_NOW));

	_cleanup_subject_ struct subject then = subject_of(getpid());

	assert_int_equal(dotnet_inspect(&then, own.image), 0);
}

static void by_its_program(void **state)
{
	_cleanup_program_ struct program single = program_at(PROGRAM);
	_cleanup_subject_ struct subject parent = subject_of(getppid());

	(void)state;
	assert_int_equal(dotnet_inspect(&parent, single.image), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_its_library),
	    cmocka_unit_test(by_its_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
