// SPDX-License-Identifier: Apache-2.0
/* Probes on the return of functions: harmless where the kernel has no call for them, or lets it
 * pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <cmocka.h>

#include "runtime/uprobe_returns.h"

/* Of the versions between some stable ones have the change, too. */
static void by_version(void **state)
{
	struct utsname kernel;
	int major, minor;

	(void)state;
	assert_int_equal(uname(&kernel), 0);
	assert_int_equal(sscanf(kernel.release, "%d.%d", &major, &minor), 2);
	if (major == 6 && minor >= 11 && minor < 14)
		skip();
	assert_true(uprobe_returns_are_safe());
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(by_version)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
