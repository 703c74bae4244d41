// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of its frame compiled code of Java has, at each of its instructions where it makes the
 * frame and gives it up: instructions as HotSpot's C1 and C2 write them (c1_MacroAssembler_x86.cpp,
 * macroAssembler_x86.cpp, x86_64.ad).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

static long read_here(void *to, __u32 size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

#define bpf_probe_read_user read_here
#define VERIFIED_ALONE      static
#include "runtimes/java/edge.bpf.h"

#define BEFORE 64

/* An instruction, and what is on the stack before it runs. */
struct instruction {
	const char *code;
	__u8 size;
	enum java_edge edge;
};

#define CODE(bytes, edge)                                                                          \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, edge                                                     \
	}

static __u8 memory[256];

/* Hold each instruction against `edge`, which is told its address. */
static void check(const struct instruction *code, size_t count, __u32 (*edge)(__u64 pc))
{
	__u8 *at = memory + BEFORE;

	memset(memory, 0x90, sizeof(memory));
	for (size_t i = 0; i < count; i++) {
		memcpy(at, code[i].code, code[i].size);
		at += code[i].size;
	}
	at = memory + BEFORE;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(edge((uintptr_t)at), code[i].edge);
		at += code[i].size;
	}
}

#define CHECK(code, edge) check(code, sizeof(code) / sizeof((code)[0]), edge)

static __u32 made_small(__u64 pc)
{
	return java_edge_made(pc, 0x20 + 8);
}

static __u32 made_large(__u64 pc)
{
	return java_edge_made(pc, 0x120 + 8);
}

static __u32 made_whole(__u64 pc)
{
	return java_edge_made(pc, 0x18);
}

static void where_a_frame_is_pushed(void **state)
{
	static const struct instruction code[] = {
	    CODE("\x89\x84\x24\x00\xc0\xfe\xff", JAVA_EDGE_NOTHING),   /* mov %eax,-0x14000(%rsp) */
	    CODE("\x55", JAVA_EDGE_NOTHING),                           /* push %rbp */
	    CODE("\x48\x83\xec\x20", JAVA_EDGE_POINTER),               /* sub $0x20,%rsp */
	    CODE("\x41\x81\x7f\x20\x01\x00\x00\x00", JAVA_EDGE_FRAME), /* cmpl $1,0x20(%r15) */
	    CODE("\x0f\x85\x10\x00\x00\x00", JAVA_EDGE_FRAME),         /* jne */
	    CODE("\x90", JAVA_EDGE_FRAME),
	};

	(void)state;
	CHECK(code, made_small);
}

static void where_a_large_frame_is_pushed(void **state)
{
	static const struct instruction code[] = {
	    CODE("\x55", JAVA_EDGE_NOTHING),
	    CODE("\x48\x81\xec\x20\x01\x00\x00", JAVA_EDGE_POINTER), /* sub $0x120,%rsp */
	    CODE("\x90", JAVA_EDGE_FRAME),
	};

	(void)state;
	CHECK(code, made_large);
}

static void where_a_frame_is_made_at_once(void **state)
{
	static const struct instruction code[] = {
	    CODE("\x48\x81\xec\x18\x00\x00\x00", JAVA_EDGE_NOTHING), /* sub $0x18,%rsp */
	    CODE("\x48\x89\x6c\x24\x10", JAVA_EDGE_FRAME),           /* mov %rbp,0x10(%rsp) */
	    CODE("\x90", JAVA_EDGE_FRAME),
	};

	(void)state;
	CHECK(code, made_whole);
}

/* Another number is no frame of this one's. */
static void another_subtraction(void **state)
{
	static const struct instruction code[] = {
	    CODE("\x48\x83\xec\x40", JAVA_EDGE_NOTHING),
	    CODE("\x90", JAVA_EDGE_NOTHING),
	};

	(void)state;
	CHECK(code, made_small);
}

static void where_a_frame_is_given_up(void **state)
{
	static const struct instruction code[] = {
	    CODE("\x48\x83\xc4\x20", JAVA_EDGE_FRAME),               /* add $0x20,%rsp */
	    CODE("\x5d", JAVA_EDGE_POINTER),                         /* pop %rbp */
	    CODE("\x49\x3b\xa7\x40\x03\x00\x00", JAVA_EDGE_NOTHING), /* cmp 0x340(%r15),%rsp */
	    CODE("\x0f\x87\x01\x00\x00\x00", JAVA_EDGE_NOTHING),     /* ja */
	    CODE("\xc3", JAVA_EDGE_NOTHING),                         /* ret */
	};

	(void)state;
	CHECK(code, java_edge_given);
}

/* The address behind these bytes. */
static __u64 behind(const void *code, size_t size)
{
	memset(memory, 0x90, sizeof(memory));
	memcpy(memory + BEFORE, code, size);
	return (uintptr_t)memory + BEFORE + size;
}

static void what_was_called(void **state)
{
	static const char direct[] = "\xe8\x00\xff\xff\xff"; /* call .-0x100 */
	static const char far[] = "\x49\xba\x88\x77\x66\x55\x44\x33\x22\x11\x41\xff\xd2";
	static const char other[] = "\xff\x50\x10"; /* call *0x10(%rax) */
	const __u64 back = behind(direct, sizeof(direct) - 1);

	(void)state;
	assert_int_equal(java_called(back), back - 0x100);
	assert_int_equal(java_called(behind(far, sizeof(far) - 1)), 0x1122334455667788);
	assert_int_equal(java_called(behind(other, sizeof(other) - 1)), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(where_a_frame_is_pushed),
	    cmocka_unit_test(where_a_large_frame_is_pushed),
	    cmocka_unit_test(where_a_frame_is_made_at_once),
	    cmocka_unit_test(another_subtraction),
	    cmocka_unit_test(where_a_frame_is_given_up),
	    cmocka_unit_test(what_was_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
