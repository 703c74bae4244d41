// SPDX-License-Identifier: Apache-2.0
/* Places in machine code, as compilers of several versions of Go made it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "inspect/machine_code.h"

#define SIZE(code) (sizeof(code) - 1)

static size_t entry_of(const char *code, size_t size)
{
	__u8 padded[64];

	memset(padded, 0x90, sizeof(padded));
	memcpy(padded, code, size);
	return machine_code_entry(padded, sizeof(padded));
}

static void entries(void **state)
{
	/* cmp 0x10(%r14),%rsp; jbe; push %rbp */
	static const char small[] = "\x49\x3b\x66\x10\x0f\x86\x6d\x03\x00\x00\x55";
	static const char near[] = "\x49\x3b\x66\x10\x76\x48\x55";
	/* lea -0x68(%rsp),%r12; cmp 0x10(%r14),%r12; jbe */
	static const char medium[] = "\x4c\x8d\x64\x24\x98\x4d\x3b\x66\x10\x0f\x86\xd0\x02\x00\x00";
	/* lea -0x230(%rsp),%r12; cmp 0x10(%r14),%r12; jbe */
	static const char large[] =
	    "\x4c\x8d\xa4\x24\xd0\xfd\xff\xff\x4d\x3b\x66\x10\x0f\x86\x94\x0e\x00\x00";
	/* without a check of the stack */
	static const char none[] = "\x55\x48\x89\xe5\x48\x83\xec\x28";

	(void)state;
	assert_int_equal(entry_of(small, SIZE(small)), 4);
	assert_int_equal(entry_of(near, SIZE(near)), 4);
	assert_int_equal(entry_of(medium, SIZE(medium)), 9);
	assert_int_equal(entry_of(large, SIZE(large)), 12);
	assert_int_equal(entry_of(none, SIZE(none)), 0);
	assert_int_equal(machine_code_entry((const __u8 *)small, 4), 0);
}

static void calls(void **state)
{
	/* mov %rdx,%rax; call +0x4086; cmpb $0,...; call +8 */
	static const char code[] = "\x48\x89\xd0\xe8\x86\x40\x00\x00\x90\xe8\x08\x00\x00\x00";
	const __u8 *bytes = (const __u8 *)code;
	size_t at = 99;

	(void)state;
	assert_int_equal(machine_code_call(bytes, SIZE(code), 0x1000, 0x1000 + 8 + 0x4086, 0, &at),
			 0);
	assert_int_equal(at, 3);
	assert_int_equal(machine_code_call(bytes, SIZE(code), 0x1000, 0x1000 + 14 + 8, 0, &at), 0);
	assert_int_equal(at, 9);
	assert_int_equal(machine_code_call(bytes, SIZE(code), 0x1000, 0x2000, 0, &at), -ENOENT);
	assert_int_equal(machine_code_call(bytes, 12, 0x1000, 0x1000 + 14 + 8, 0, &at), -ENOENT);
}

static void one_call_after_another(void **state)
{
	/* call +5; call +0 */
	static const char code[] = "\xe8\x05\x00\x00\x00\xe8\x00\x00\x00\x00";
	const __u8 *bytes = (const __u8 *)code;
	size_t at;

	(void)state;
	assert_int_equal(machine_code_call(bytes, SIZE(code), 0, 10, 0, &at), 0);
	assert_int_equal(at, 0);
	assert_int_equal(machine_code_call(bytes, SIZE(code), 0, 10, 1, &at), 0);
	assert_int_equal(at, 5);
	assert_int_equal(machine_code_call(bytes, SIZE(code), 0, 10, 6, &at), -ENOENT);
}

static int g_offset_of(const char *code, size_t size)
{
	__s32 offset = 0;
	int err = machine_code_g_offset((const __u8 *)code, size, &offset);

	return err ? err : offset;
}

static void g_offsets(void **state)
{
	/* mov %rdx,%fs:-8; mov %rdx,%r14 */
	static const char plain[] = "\x64\x48\x89\x14\x25\xf8\xff\xff\xff\x49\x89\xd6";
	/* mov $-0x18,%rcx; mov %rdx,%fs:(%rcx) */
	static const char pie[] = "\x48\xc7\xc1\xe8\xff\xff\xff\x64\x48\x89\x11";
	/* mov 0x1234(%rip),%rcx; mov %rdx,%fs:(%rcx): decided when it is loaded */
	static const char loaded[] = "\x48\x8b\x0d\x34\x12\x00\x00\x64\x48\x89\x11";

	(void)state;
	assert_int_equal(g_offset_of(plain, SIZE(plain)), -8);
	assert_int_equal(g_offset_of(pie, SIZE(pie)), -0x18);
	assert_int_equal(g_offset_of(loaded, SIZE(loaded)), -ENOENT);
	assert_int_equal(g_offset_of(plain, 8), -ENOENT);
	assert_int_equal(g_offset_of(pie, 10), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(entries),
	    cmocka_unit_test(calls),
	    cmocka_unit_test(one_call_after_another),
	    cmocka_unit_test(g_offsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
