// SPDX-License-Identifier: Apache-2.0
/* What is found in the interpreter of Ruby that is installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "child.h"
#include "program.h"
#include "inspect/machine_code.h"
#include "inspect/process.h"
#include "runtimes/ruby/ruby.h"

#define MODULES_MAX 64   /* TLS modules that a program of ours might have */
#define TLS_MAX     4096 /* bytes of thread-local variables that Ruby might have */
#define TYPE_CLASS  0x02 /* of an object */

/* A process that runs Ruby, once it has said so on its standard output. */
static pid_t start(void)
{
	return child_start(
	    (const char *const[]){RUBY, "-e", "$stdout.syswrite 'x'; sleep 60", NULL});
}

static int inspect(pid_t pid, struct ruby *ret_ruby, enum why *ret_why)
{
	_cleanup_program_ struct program program = program_of(pid);
	_cleanup_subject_ struct subject subject = subject_of(pid);

	return ruby_inspect(&subject, program.image, ret_ruby, ret_why);
}

/* What stands at an address of the process. */
static __u64 word(pid_t pid, __u64 address)
{
	_cleanup_close_ int fd = -1;
	char path[PROCESS_PATH_MAX];
	__u64 value = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &value, sizeof(value), (off_t)address), sizeof(value));
	return value;
}

static unsigned int queue_sites(const struct ruby *ruby, enum ruby_probe probe)
{
	return probe_sites_count(&ruby->sites, probe);
}

static void a_process_of_ruby(void **state)
{
	pid_t pid = start();
	__u64 module = 1, offset = 0, type;
	enum why why = WHYS;
	struct ruby ruby;
	int err = inspect(pid, &ruby, &why);

	(void)state;
	assert_int_equal(err, 0);
	if (ruby.runtime.ruby.slot) {
		module = word(pid, ruby.runtime.ruby.slot);
		offset = word(pid, ruby.runtime.ruby.slot + sizeof(module));
	}
	type = word(pid, word(pid, ruby.runtime.ruby.thread_class)) & RUBY_TYPE_MASK;
	child_end(pid);
	assert_int_equal(why, WHY_NONE);
	assert_int_equal(ruby.runtime.kind, RUNTIME_RUBY);
	assert_true(ruby.major >= 2 && ruby.major < 10);
	assert_in_range(module, 1, MODULES_MAX);
	assert_in_range(offset, 0, TLS_MAX);
	assert_int_equal(type, TYPE_CLASS);
	assert_int_equal(queue_sites(&ruby, RUBY_TAKEN), queue_sites(&ruby, RUBY_ASKED));
	assert_in_range(queue_sites(&ruby, RUBY_TAKEN), 1, 2);
	assert_in_range(queue_sites(&ruby, RUBY_PUT), 1, 3);
}

/* Libraries ask for thread-local variables with the same instructions always. */
static void a_variable_that_code_asks_for(void **state)
{
	static const __u8 code[] = {
	    0x48, 0x83, 0xec, 0x08,                         /* sub $8,%rsp */
	    0x66, 0x48, 0x8d, 0x3d, 0x10, 0x00, 0x00, 0x00, /* data16 lea 16(%rip),%rdi */
	    0x66, 0x66, 0x48, 0xe8, 0x00, 0x01, 0x00, 0x00, /* data16 data16 rex.W call */
	    0xc3,
	};
	__u64 slot = 0;

	(void)state;
	assert_int_equal(machine_code_variable(code, sizeof(code), 0x1000, &slot), 0);
	assert_int_equal(slot, 0x1000 + 12 + 16);
	assert_int_equal(machine_code_variable(code, sizeof(code) - 2, 0x1000, &slot), -ENOENT);
	assert_int_equal(machine_code_variable(code + 5, sizeof(code) - 5, 0x1000, &slot), -ENOENT);
}

static void another_program(void **state)
{
	enum why why = WHY_NONE;
	struct ruby ruby;

	(void)state;
	assert_int_equal(inspect(getpid(), &ruby, &why), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_process_of_ruby),
	    cmocka_unit_test(a_variable_that_code_asks_for),
	    cmocka_unit_test(another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
