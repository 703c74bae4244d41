// SPDX-License-Identifier: Apache-2.0
/* What is found in the interpreters of Python that are installed, and in code of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "program.h"
#include "inspect/machine_code.h"
#include "inspect/process.h"
#include "runtimes/python/python.h"
#include "runtimes/python/code.h"
#include "runtimes/python/offsets.h"

#define SIZE(code) (sizeof(code) - 1)

static __u64 key_of(const char *code, size_t size, __u64 address, __u64 runtime)
{
	__u64 key = 0;

	return python_code_key((const __u8 *)code, size, address, runtime, &key) ? 0 : key;
}

static void keys(void **state)
{
	/* 3.11, in a program: cmpq; je; mov 0x563d50(%rip),%edi */
	static const char program[] = "\x48\x83\x3d\x50\x3d\x56\x00\x00\x0f\x84\x1f\xc8\xf2\xff"
				      "\x8b\x3d\x50\x3d\x56\x00\xe9\xa7\x8a\xf2\xff";
	/* 3.11, in a library: mov (%rip),%rax; cmpq; je; lea 0x250(%rax),%rdi */
	static const char library[] = "\x48\x8b\x05\x09\xd8\x1a\x00\x48\x83\xb8\x48\x02\x00\x00"
				      "\x00\x74\x0f\x48\x8d\xb8\x50\x02\x00\x00\xe9";
	/* 3.12: mov (%rip),%rax; push %rbx; lea 0x608(%rax),%rbx */
	static const char later[] = "\x48\x8b\x05\xc9\xc0\x26\x00\x53\x48\x8d\x98\x08\x06\x00\x00";
	/* without anything of that kind */
	static const char other[] = "\x55\x48\x89\xe5\x48\x83\xec\x28\x55\x48\x89\xe5";

	(void)state;
	assert_int_equal(key_of(program, SIZE(program), 0x4f7c30, 0xa5b740), 0xa5b740 + 0x254);
	assert_int_equal(key_of(library, SIZE(library), 0x296520, 0x54e540), 0x54e540 + 0x254);
	assert_int_equal(key_of(later, SIZE(later), 0x2d7c30, 0x643340), 0x643340 + 0x60c);
	assert_int_equal(key_of(other, SIZE(other), 0x1000, 0x2000), 0);
	assert_int_equal(key_of(program, SIZE(program), 0x4f7c30, 0x1000), 0); /* not in there */
}

static int note(const struct python_made *made, void *data)
{
	*(struct python_made *)data = *made;
	return 1;
}

static void places_where_tasks_are_made(void **state)
{
	/* 3.11: call; mov %rax,0x98(%rbx); test %r15,%r15; jne */
	static const char program[] = "\x90\xe8\x79\xcc\xff\xff\x48\x89\x83\x98\x00\x00\x00"
				      "\x4d\x85\xff\x0f\x85\x3b\xd6\xff\xff";
	/* 3.13: mov 0x10(%rsp),%rdi; mov 0x18(%rsp),%rcx stand between; test %rdi,%rdi */
	static const char reloads[] = "\xe8\x21\xbd\xff\xff\x48\x8b\x7c\x24\x10\x48\x8b\x4c\x24\x18"
				      "\x48\x89\x83\x88\x00\x00\x00\x48\x85\xff\x0f\x85\x37\x02";
	/* a call whose result goes to %rbp */
	static const char other[] = "\xe8\x00\xc8\xff\xff\x48\x89\xc5\x48\x85\xc0\x0f\x84\x4d"
				    "\x01\x00\x00\x48\x8b\x7b\x10\x48\x85\xff";
	static const char stub[] = "\xf3\x0f\x1e\xfa\xff\x25\x10\x00\x00\x00\x66\x0f\x1f\x44";
	struct python_made made = {};
	__u64 slot = 0;

	(void)state;
	assert_int_equal(
	    python_code_each_made((const __u8 *)program, SIZE(program), 0x7401, note, &made), 1);
	assert_int_equal(made.called, 0x4080);
	assert_int_equal(made.jump, 0x7411);
	assert_int_equal(made.task_offset, 0x98);
	assert_int_equal(made.task_register, PYTHON_RBX);
	assert_int_equal(
	    python_code_each_made((const __u8 *)reloads, SIZE(reloads), 0x870a, note, &made), 1);
	assert_int_equal(made.called, 0x4430);
	assert_int_equal(made.jump, 0x8723);
	assert_int_equal(made.task_offset, 0x88);
	for (size_t size = 0; size < SIZE(reloads) - 2; size++)
		assert_int_equal(
		    python_code_each_made((const __u8 *)reloads, size, 0x870a, note, &made), 0);
	assert_int_equal(
	    python_code_each_made((const __u8 *)other, SIZE(other), 0x787b, note, &made), 0);
	assert_int_equal(machine_code_slot((const __u8 *)stub, SIZE(stub), 0x4080, &slot), 0);
	assert_int_equal(slot, 0x4080 + 10 + 0x10);
	assert_int_equal(machine_code_slot((const __u8 *)other, SIZE(other), 0x4080, &slot),
			 -ENOENT);
}

static void stubs(void **state)
{
	/* endbr64; jmp *(%rip), two of them; what lies between is none */
	static const char code[] =
	    "\xf3\x0f\x1e\xfa\xff\x25\x10\x00\x00\x00\x66\x0f\x1f\x44\x00\x00"
	    "\xff\x35\x02\x00\x00\x00\x55\x48\x89\xe5\x48\x83\xec\x28\x90\x90"
	    "\xf3\x0f\x1e\xfa\xff\x25\xf8\xff\xff\xff\x66\x0f\x1f\x44\x00\x00"
	    "\xf3\x0f\x1e\xfa\xff\x25\x40\x00\x00"; /* cut off */
	const __u8 *at = (const __u8 *)code;
	__u64 stub = 0;

	(void)state;
	assert_int_equal(python_code_stub(at, SIZE(code), 0x4080, 0x409a, &stub), 0);
	assert_int_equal(stub, 0x4080);
	assert_int_equal(python_code_stub(at, SIZE(code), 0x4080, 0x40a2, &stub), 0);
	assert_int_equal(stub, 0x40a0);
	stub = 7;
	assert_int_equal(python_code_stub(at, SIZE(code), 0x4080, 0x40fa, &stub), -ENOENT);
	assert_int_equal(python_code_stub(at, SIZE(code), 0x4080, 0x4098, &stub), -ENOENT);
	assert_int_equal(python_code_stub(at, 0, 0x4080, 0x409a, &stub), -ENOENT);
	assert_int_equal(stub, 7);
}

static void where_greenlets_change(void **state)
{
	/* call; mov %rbx, 8(%rbp); test %rdi, %rdi; je; then one that stores nothing before */
	static const char code[] = "\xe8\x01\x02\x03\x04\x48\x89\x5d\x08\x48\x85\xff\x74\x0d"
				   "\x48\xc7\x45\x08\x00\x00\x00\x00\x48\x85\xff\x74\xae";
	static const char two[] = "\x48\x89\x5d\x08\x48\x85\xff\x74\x0d"
				  "\x48\x89\x5d\x08\x48\x85\xff\x74\x0d";
	const __u8 *at = (const __u8 *)code;
	__u64 jump = 7;

	(void)state;
	assert_int_equal(python_code_switched(at, 13, 0xd6eb, &jump), -ENOENT); /* cut off */
	assert_int_equal(python_code_switched((const __u8 *)two, SIZE(two), 0, &jump), -ENOENT);
	assert_int_equal(python_code_switched(at, SIZE(code), 0xd6eb, &jump), 0);
	assert_int_equal(jump, 0xd6f7);
}

static void what_contexts_go_on_with(void **state)
{
	/* mov %rdi, %rsi; mov value(%rip), %rdi; jmp 0x695d50 */
	static const char code[] = "\x48\x89\xfe\x48\x8b\x3d\x2d\xad\x56\x00\xe9\xf6\x50\x1a\x00";
	const __u8 *at = (const __u8 *)code;
	__u64 rest = 7;

	(void)state;
	assert_int_equal(python_code_rest(at, SIZE(code) - 1, 0x4f0c4b, &rest), -ENOENT);
	assert_int_equal(python_code_rest(at + 3, SIZE(code) - 3, 0x4f0c4e, &rest), -ENOENT);
	assert_int_equal(rest, 7);
	assert_int_equal(python_code_rest(at, SIZE(code), 0x4f0c4b, &rest), 0);
	assert_int_equal(rest, 0x695d50);
}

struct calls {
	unsigned int count, enough;
	__u64 at[4];
};

static int note_call(__u64 address, void *data)
{
	struct calls *calls = data;

	calls->at[calls->count++] = address;
	return calls->count == calls->enough;
}

static void calls_of_a_function(void **state)
{
	/* call 0x2000; call 0x2001; call 0x2000, backwards from 0x300b; one that is cut off */
	static const char code[] = "\x90\xe8\xfa\xef\xff\xff\xe8\xf6\xef\xff\xff"
				   "\xe8\xf0\xef\xff\xff\xe8\xeb\xef\xff";
	const __u8 *at = (const __u8 *)code;
	struct calls all = {}, first = {.enough = 1}, none = {};

	(void)state;
	assert_int_equal(python_code_each_call(at, SIZE(code), 0x3000, 0x2000, note_call, &all), 0);
	assert_int_equal(all.count, 2);
	assert_int_equal(all.at[0], 0x3001);
	assert_int_equal(all.at[1], 0x300b);
	assert_int_equal(python_code_each_call(at, SIZE(code), 0x3000, 0x2000, note_call, &first),
			 1);
	assert_int_equal(first.count, 1);
	assert_int_equal(python_code_each_call(at, SIZE(code), 0x3000, 0x4000, note_call, &none),
			 0);
	assert_int_equal(none.count, 0);
}

static void jumps_to_a_function(void **state)
{
	/* jmp 0x2000: what a function ends with */
	static const char code[] = "\xe9\xfb\xef\xff\xff";
	struct calls all = {};

	(void)state;
	assert_int_equal(
	    python_code_each_call((const __u8 *)code, SIZE(code), 0x3000, 0x2000, note_call, &all),
	    0);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.at[0], 0x3000);
}

static void calls_that_are_checked(void **state)
{
	/* call 0x2000; test %eax, %eax; jne; then one without the test, and one that is cut off */
	static const char code[] = "\xe8\xfb\xef\xff\xff\x85\xc0\x75\x00"
				   "\xe8\xf2\xef\xff\xff\x90\xe8\xec\xef\xff\xff\x85\xc0";
	struct calls all = {};

	(void)state;
	assert_int_equal(python_code_each_checked((const __u8 *)code, SIZE(code), 0x3000, 0x2000,
						  note_call, &all),
			 0);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.at[0], 0x3007);
}

static void layouts(void **state)
{
	struct runtime_python places = {};

	(void)state;
	assert_int_equal(python_layout_fill(8, &places), -ENOTSUP);
	assert_int_equal(python_layout_fill(14, &places), -ENOTSUP);
	for (unsigned int minor = 9; minor <= 13; minor++) {
		assert_true(python_layout_is_known(minor));
		assert_int_equal(python_layout_fill(minor, &places), 0);
		/* either kind of frame, and nothing of the other */
		assert_int_equal(places.frames.owner != 0, minor >= 11);
		assert_int_equal(places.frames.variables != 0, minor >= 11);
		assert_int_equal(places.frames.end != 0, minor < 11);
		assert_int_equal(places.stack_offset != 0, minor >= 11);
	}
}

static int inspect(pid_t pid, struct python *ret_python, enum why *ret_why)
{
	_cleanup_program_ struct program program = program_of(pid);
	_cleanup_subject_ struct subject subject = subject_of(pid);

	return python_inspect(&subject, program.image, ret_python, ret_why);
}

static unsigned int count(const struct python *python, enum python_probe probe)
{
	return probe_sites_count(&python->sites, probe);
}

/* What is found in a process that runs `script`, once that has said something. */
static struct python found_in(const char *script)
{
	pid_t pid = child_start((const char *const[]){PYTHON, "-c", script, NULL});
	struct python python;
	enum why why = WHYS;
	int err = inspect(pid, &python, &why);

	child_end(pid);
	assert_int_equal(err, 0);
	assert_int_equal(why, WHY_NONE);
	return python;
}

static void process_with_modules(void **state)
{
	struct python python =
	    found_in("import asyncio, queue, time; print(flush=True); time.sleep(60)");

	(void)state;
	assert_int_equal(python.runtime.kind, RUNTIME_PYTHON);
	assert_true(python.runtime.python.key > 0);
	assert_int_equal(count(&python, PYTHON_MADE), 1);
	assert_true(python.runtime.python.task_offset > 0x40);
	assert_int_equal(python.runtime.python.stack_offset != 0, python.minor >= 11);
	assert_int_equal(count(&python, PYTHON_WOKEN), 2); /* of Future and of Task */
	assert_int_equal(count(&python, PYTHON_PUT), 2);
	assert_int_equal(count(&python, PYTHON_GOT), 2);
	assert_true(count(&python, PYTHON_STEP_BEGINS) > 0);
	assert_true(count(&python, PYTHON_STEP_ENDS) > 0);
	assert_int_equal(count(&python, PYTHON_LEAVES) > 0, count(&python, PYTHON_HAS_ENTERED) > 0);
}

static void process_with_greenlets(void **state)
{
	struct python python;

	(void)state;
	if (system(PYTHON " -c 'import greenlet' 2>/dev/null"))
		skip(); /* it is not installed */
	python = found_in("import greenlet, time; print(flush=True); time.sleep(60)");
	assert_int_equal(count(&python, PYTHON_GREENLET_MADE), 1);
	assert_int_equal(count(&python, PYTHON_GREENLET_FREED), 1);
	assert_int_equal(count(&python, PYTHON_SWITCHES), 1);
	assert_true(python.runtime.python.greenlets > 0);
}

static void process_without(void **state)
{
	struct python python = found_in("import time; print(flush=True); time.sleep(60)");

	(void)state;
	assert_int_equal(python.sites.count, 0);
	assert_int_equal(python.runtime.python.greenlets, 0);
}

static void another_program(void **state)
{
	struct python python;
	enum why why = WHY_NONE;

	(void)state;
	assert_int_equal(inspect(getpid(), &python, &why), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys),
	    cmocka_unit_test(places_where_tasks_are_made),
	    cmocka_unit_test(stubs),
	    cmocka_unit_test(calls_of_a_function),
	    cmocka_unit_test(jumps_to_a_function),
	    cmocka_unit_test(calls_that_are_checked),
	    cmocka_unit_test(where_greenlets_change),
	    cmocka_unit_test(what_contexts_go_on_with),
	    cmocka_unit_test(layouts),
	    cmocka_unit_test(process_with_modules),
	    cmocka_unit_test(process_with_greenlets),
	    cmocka_unit_test(process_without),
	    cmocka_unit_test(another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
