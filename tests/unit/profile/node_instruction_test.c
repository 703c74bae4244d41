// SPDX-License-Identifier: Apache-2.0
/* Instructions as V8 writes them, with their lengths as its own disassembler tells them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "runtimes/node/instruction.h"

#define BYTES_MAX 16

struct known {
	__u8 bytes[BYTES_MAX];
	__u32 length;
	enum node_instruction_kind kind;
	__s32 target;
};

static const struct known known[] = {
    {{0x48, 0x8b, 0x59, 0xe8}, 4, NODE_INSTRUCTION_OTHER, 0},       /* mov rbx, [rcx-24] */
    {{0x4d, 0x8d, 0x74, 0x24, 0x10}, 5, NODE_INSTRUCTION_OTHER, 0}, /* lea r14, [r12+16] */
    {{0x49, 0xb8, 0x39, 0x28}, 10, NODE_INSTRUCTION_OTHER, 0},      /* mov r8, 64 bits */
    {{0xb8, 0x43, 0x42, 0x0f}, 5, NODE_INSTRUCTION_OTHER, 0},       /* mov eax, 32 bits */
    {{0x48, 0x8b, 0x1d, 0xbb, 0xff, 0xff, 0xff}, 7, NODE_INSTRUCTION_OTHER, 0}, /* [rip-69] */
    {{0x4d, 0x39, 0xa5, 0x38, 0x02}, 7, NODE_INSTRUCTION_OTHER, 0}, /* cmp [r13+n], r12 */
    {{0x41, 0x80, 0x7d, 0xb1, 0x00}, 5, NODE_INSTRUCTION_OTHER, 0}, /* cmp byte [r13-79] */
    {{0x49, 0xc1, 0xff, 0x20}, 4, NODE_INSTRUCTION_OTHER, 0},       /* sar r15, 32 */
    {{0x69, 0xc0, 0x43, 0x42, 0x0f}, 6, NODE_INSTRUCTION_OTHER, 0}, /* imul eax, eax, n */
    {{0x41, 0xf7, 0xe4}, 3, NODE_INSTRUCTION_OTHER, 0},             /* mul r12d */
    {{0xf6, 0x45, 0xc8, 0x01}, 4, NODE_INSTRUCTION_OTHER, 0},       /* test byte [rbp-56] */
    {{0x66, 0x0f, 0x1f, 0x84}, 9, NODE_INSTRUCTION_OTHER, 0},       /* nop */
    {{0xc4, 0xc1, 0x7b, 0x11, 0x44, 0x24, 0x07}, 7, NODE_INSTRUCTION_OTHER, 0}, /* vmovsd */
    {{0xc5, 0xfb, 0x58, 0xc1}, 4, NODE_INSTRUCTION_OTHER, 0},                   /* vaddsd */
    {{0x41, 0x51}, 2, NODE_INSTRUCTION_OTHER, 0},                               /* push r9 */
    {{0xe8, 0x73, 0x77, 0xe9, 0x1f}, 5, NODE_INSTRUCTION_CALL, 0x1fe97773},
    {{0x41, 0xff, 0x95, 0xf0, 0x4e}, 7, NODE_INSTRUCTION_CALL, 0}, /* call [r13+n] */
    {{0xe9, 0xb4, 0, 0, 0}, 5, NODE_INSTRUCTION_JUMP, 0xb4},
    {{0xeb, 0xbb}, 2, NODE_INSTRUCTION_JUMP, -69},
    {{0x77, 0xc2}, 2, NODE_INSTRUCTION_BRANCH, -62},
    {{0x0f, 0x87, 0x13, 0xfe, 0xff, 0xff}, 6, NODE_INSTRUCTION_BRANCH, -493},
};

static void lengths(void **state)
{
	struct node_instruction found;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_true(node_instruction_read(known[i].bytes, BYTES_MAX, &found));
		assert_int_equal(found.length, known[i].length);
		assert_int_equal(found.kind, known[i].kind);
		assert_int_equal(found.target, known[i].target);
	}
}

/* Without the last byte it is none. */
static void an_end(void **state)
{
	struct node_instruction found;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (__u32 size = 0; size < known[i].length; size++)
			assert_false(node_instruction_read(known[i].bytes, size, &found));
}

static void what_is_not_understood(void **state)
{
	static const __u8 others[][3] = {{0xc3}, {0xcc}, {0xff, 0xe0}, {0x0f, 0x05}, {0xf4}};
	struct node_instruction found;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(node_instruction_read(others[i], sizeof(others[i]), &found));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lengths),
	    cmocka_unit_test(an_end),
	    cmocka_unit_test(what_is_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
