// SPDX-License-Identifier: Apache-2.0
/* What is found in Node: this program has the same functions, and can look at itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include "program.h"
#include "runtime/node.h"

#define TIMERS "_ZN4node11Environment9RunTimersEP10uv_timer_s"

void uv_run(void);
void run_timers(void) __asm__(TIMERS);

/* Of 7 and of 3 bytes. */
__asm__(".globl " TIMERS "\n.type " TIMERS ", @function\n" TIMERS ":\n"
	".rept 6; nop; .endr; ret\n"
	".size " TIMERS ", . - " TIMERS "\n"
	".globl uv_run\n.type uv_run, @function\nuv_run: nop; nop; ret\n"
	".size uv_run, . - uv_run\n");

static int inspect(const char *path, struct runtime *ret_runtime)
{
	_cleanup_program_ struct program program = program_at(path);

	return node_inspect((__u32)getpid(), program.image, ret_runtime);
}

static void functions(void **state)
{
	struct runtime runtime;

	(void)state;
	assert_int_equal(inspect("/proc/self/exe", &runtime), 0);
	assert_int_equal(runtime.kind, RUNTIME_NODE);
	assert_int_equal(runtime.node.timers, (__u64)run_timers);
	assert_int_equal(runtime.node.timers_end - runtime.node.timers, 7);
	assert_int_equal(runtime.node.loop, (__u64)uv_run);
	assert_int_equal(runtime.node.loop_end - runtime.node.loop, 3);
}

/* Not in the program, nor in a library that the process has loaded. */
static void another_program(void **state)
{
	struct runtime runtime;

	(void)state;
	assert_int_equal(inspect("/bin/sh", &runtime), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(functions),
	    cmocka_unit_test(another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
