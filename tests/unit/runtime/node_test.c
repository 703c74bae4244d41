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
#include "runtimes/node/node.h"

#define TIMERS "_ZN4node11Environment9RunTimersEP10uv_timer_s"
#define READS  "_ZN4node15LibuvStreamWrap8OnUvReadElPK8uv_buf_t"

#define WRITES "_ZN4node15LibuvStreamWrap10DoTryWriteEPP8uv_buf_tPm"
#define JUMPS  "_ZThn88_N4node15LibuvStreamWrap10DoTryWriteEPP8uv_buf_tPm"

#define LATER "_ZN4node11Environment14CheckImmediateEP10uv_check_s"

#define FUNCTION(name, body)                                                                       \
	".globl " name "\n.type " name ", @function\n" name ":\n" body "\n.size " name             \
	", . - " name "\n"

void uv_run(void);
void uv_tcp_init(void);
void uv_tcp_connect(void);
void uv_close(void);
void run_timers(void) __asm__(TIMERS);
void read_stream(void) __asm__(READS);
void check_immediate(void) __asm__(LATER);
void try_write(void) __asm__(WRITES);

/* Of 7, 5 and 3 bytes; the others one each. */
__asm__(FUNCTION(TIMERS, ".rept 6; nop; .endr; ret") FUNCTION(READS, ".rept 4; nop; .endr; ret")
	    FUNCTION(WRITES, "nop; ret") FUNCTION(JUMPS, "ret") FUNCTION(LATER, "ret")
		FUNCTION("uv_run", "nop; nop; ret") FUNCTION("uv_tcp_init", "ret")
		    FUNCTION("uv_tcp_connect", "ret") FUNCTION("uv_close", "ret"));

/* Functions of libuv that are nobody else's: a program has symbols of them, a library has not. */
static __attribute__((noinline, used)) void uv__work_submit(void)
{
}

static __attribute__((noinline, used)) void uv__fs_done(void)
{
}

static int inspect(const char *path, struct node *ret_node)
{
	_cleanup_program_ struct program program = program_at(path);
	_cleanup_subject_ struct subject self = subject_of(getpid());

	return node_inspect(&self, program.image, ret_node);
}

/* Where in the file a probe belongs; 0: nowhere. */
static __u64 offset(const struct node *node, enum node_probe probe)
{
	for (__u32 i = 0; i < node->sites.count; i++)
		if (node->sites.site[i].probe == probe)
			return node->sites.site[i].offset;
	return 0;
}

static void assert_is(const struct runtime_range *range, void (*function)(void), __u64 size)
{
	assert_int_equal(range->start, (__u64)function);
	assert_int_equal(range->end - range->start, size);
}

static void functions(void **state)
{
	struct node node;

	(void)state;
	assert_int_equal(inspect("/proc/self/exe", &node), 0);
	assert_int_equal(node.runtime.kind, RUNTIME_NODE);
	assert_is(&node.runtime.node.timers, run_timers, 7);
	assert_is(&node.runtime.node.reads, read_stream, 5);
	assert_is(&node.runtime.node.later, check_immediate, 1);
	assert_is(&node.runtime.node.loop, uv_run, 3);
	assert_is(&node.runtime.node.writes, try_write, 2);
}

/* Where uprobes are put: as many bytes apart in the file as in memory. */
static void places(void **state)
{
	struct node node;

	(void)state;
	assert_int_equal(inspect("/proc/self/exe", &node), 0);
	assert_int_equal(offset(&node, NODE_CONNECTS) - offset(&node, NODE_MADE),
			 (__u64)uv_tcp_connect - (__u64)uv_tcp_init);
	assert_int_equal(offset(&node, NODE_CLOSES) - offset(&node, NODE_MADE),
			 (__u64)uv_close - (__u64)uv_tcp_init);
	assert_int_equal(node.sites.site[0].file, SUBJECT_PROGRAM);
}

static void places_without_export(void **state)
{
	struct node node;

	(void)state;
	uv__work_submit();
	uv__fs_done();
	assert_int_equal(inspect("/proc/self/exe", &node), 0);
	assert_int_equal(offset(&node, NODE_WORK) - offset(&node, NODE_MADE),
			 (__u64)uv__work_submit - (__u64)uv_tcp_init);
	assert_int_equal(offset(&node, NODE_FILES) - offset(&node, NODE_MADE),
			 (__u64)uv__fs_done - (__u64)uv_tcp_init);
	assert_int_equal(offset(&node, NODE_NAMES), 0); /* there is none */
}

/* Not in the program, nor in a library that the process has loaded. */
static void another_program(void **state)
{
	struct node node;

	(void)state;
	assert_int_equal(inspect("/bin/sh", &node), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(functions),
	    cmocka_unit_test(places),
	    cmocka_unit_test(places_without_export),
	    cmocka_unit_test(another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
