// SPDX-License-Identifier: Apache-2.0
/* Who is looked at first, of processes whose programs are the test's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "inspect/process.h"
#include "runtime/looks.h"

#define PROCESSES 1000

/* Inode and size of each process's program; inode 0: it is gone. */
static struct process_program programs[PROCESSES];

bool process_program(__u32 tgid, struct process_program *ret_program)
{
	if (!programs[tgid].inode)
		return false;
	*ret_program = programs[tgid];
	return true;
}

static void add(struct looks *looks, __u32 tgid, __u64 size, bool is_known)
{
	programs[tgid] = (struct process_program){.device = 1, .inode = tgid, .size = size};
	assert_int_equal(looks_add(looks, tgid, is_known), 0);
}

static __u32 take(struct looks *looks)
{
	__u32 tgid = 0;

	return looks_take(looks, &tgid) ? tgid : 0;
}

/* Of each it is known from another process what its program is. */
static void remember(struct looks *looks, ino_t inode, bool is_special)
{
	const struct stat file = {.st_dev = 1, .st_ino = inode};

	looks_remember(looks, &file, is_special);
}

static void by_kind(void **state)
{
	struct looks looks = {};

	(void)state;
	remember(&looks, 2, false);
	remember(&looks, 4, true);
	add(&looks, 1, 10, true);
	add(&looks, 2, 20, false);
	add(&looks, 3, 30, false);
	add(&looks, 4, 40, false);
	assert_int_equal(take(&looks), 4);
	assert_int_equal(take(&looks), 3);
	assert_int_equal(take(&looks), 2);
	assert_int_equal(take(&looks), 1);
	assert_int_equal(take(&looks), 0);
}

static void each_once(void **state)
{
	struct looks looks = {};

	(void)state;
	add(&looks, 1, 10, true);
	add(&looks, 2, 10, true);
	add(&looks, 2, 10, false); /* it has become a program of which nothing is known */
	assert_int_equal(take(&looks), 2);
	assert_int_equal(take(&looks), 1);
	assert_int_equal(take(&looks), 0);
}

static void last_and_smallest_take_turns(void **state)
{
	struct looks looks = {};

	(void)state;
	for (__u32 i = 0; i < 100; i++)
		add(&looks, 100 + i, 10, false);
	add(&looks, 1, 1000, false);
	assert_int_equal(take(&looks), 100);
	assert_int_equal(take(&looks), 1);
	looks_clear(&looks);
	assert_int_equal(take(&looks), 0);
}

/* Though smaller ones that are more urgent never end. */
static void nobody_waits_for_ever(void **state)
{
	struct looks looks = {};
	int taken = 0;
	__u32 tgid;

	(void)state;
	remember(&looks, 1, false);
	add(&looks, 1, 1000, false);
	do {
		for (__u32 i = 0; i < 2; i++)
			add(&looks, 10 + (__u32)taken * 2 + i, 10, false);
		tgid = take(&looks);
	} while (tgid != 1 && ++taken < 100);
	assert_int_equal(tgid, 1);
	assert_true(taken < 4);
	looks_clear(&looks);
}

/* The last ones are remembered. */
static void so_many_programs(void **state)
{
	struct looks looks = {};

	(void)state;
	for (ino_t i = 1; i <= LOOKS_MET_MAX + 1; i++)
		remember(&looks, i, true);
	add(&looks, 1, 10, false);
	add(&looks, 2, 20, false);
	assert_int_equal(take(&looks), 2);
	assert_int_equal(take(&looks), 1);
}

static void gone(void **state)
{
	struct looks looks = {};

	(void)state;
	programs[5] = (struct process_program){};
	assert_int_equal(looks_add(&looks, 5, false), 0);
	assert_int_equal(take(&looks), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_kind),
	    cmocka_unit_test(each_once),
	    cmocka_unit_test(last_and_smallest_take_turns),
	    cmocka_unit_test(nobody_waits_for_ever),
	    cmocka_unit_test(so_many_programs),
	    cmocka_unit_test(gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
