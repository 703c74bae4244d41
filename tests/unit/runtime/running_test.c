// SPDX-License-Identifier: Apache-2.0
/* Which programs run, of processes that are the test's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/processes.h"
#include "runtime/running.h"

#define PROCESSES 100

static unsigned int asked;

void processes_each(int runtimes_fd, void (*visit)(__u32 tgid, void *data), void *data)
{
	(void)runtimes_fd;
	for (__u32 tgid = 1; tgid <= PROCESSES; tgid++)
		visit(tgid, data);
}

/* The tenth is gone, and two run each program. */
bool process_program(__u32 tgid, struct process_program *ret_program)
{
	asked++;
	*ret_program = (struct process_program){.device = 1 + tgid % 2, .inode = 500 - tgid / 4};
	return tgid != 10;
}

static bool has(struct running *running, dev_t device, ino_t inode)
{
	const struct stat file = {.st_dev = device, .st_ino = inode};

	return running_has(&file, running);
}

static void each_process_is_asked_once(void **state)
{
	struct running running;

	(void)state;
	assert_int_equal(running_gather(-1, &running), 0);
	for (__u32 tgid = 1; tgid <= PROCESSES; tgid++)
		assert_true(has(&running, 1 + tgid % 2, 500 - tgid / 4));
	assert_false(has(&running, 1, 501));
	assert_false(has(&running, 3, 500));
	assert_false(has(&running, 1, 500 - PROCESSES / 4 - 1));
	assert_int_equal(asked, PROCESSES);
	running_free(&running);
	assert_false(has(&running, 1, 500));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_process_is_asked_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
