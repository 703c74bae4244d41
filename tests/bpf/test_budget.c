// SPDX-License-Identifier: Apache-2.0
/*
 * What the kernel's verifier takes to look at the programs: a kernel that counts more than this one
 * has to be able to load them, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>
#include <cmocka.h>
#include <bpf/bpf.h>

#include "rig.h"
#include "topics.h"

/* Instructions: 60 % of the kernel's limit; 80 % of Linux 6.1's, the oldest, which will not change.
 */
#define BUDGET        600000
#define BUDGET_OLDEST 800000

static bool is_oldest(void)
{
	struct utsname name;

	assert_int_equal(uname(&name), 0);
	return !strncmp(name.release, "6.1.", strlen("6.1."));
}

static void expect_within_budget(struct rig *rig, enum hook hook)
{
	const struct shape ethernet = {};
	int program = rig_program(rig, hook, &ethernet);
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(program, &info, &size), 0);
	assert_in_range(info.verified_insns, 1, is_oldest() ? BUDGET_OLDEST : BUDGET);
}

static void packets_out_are_within_it(void **state)
{
	expect_within_budget(*state, HOOK_OUT);
}

static void packets_in_are_within_it(void **state)
{
	expect_within_budget(*state, HOOK_IN);
}

int test_budget(void)
{
	const struct CMUnitTest budget[] = {
	    cmocka_unit_test(packets_out_are_within_it),
	    cmocka_unit_test(packets_in_are_within_it),
	};

	return cmocka_run_group_tests(budget, rig_setup, rig_teardown);
}
