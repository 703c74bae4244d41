// SPDX-License-Identifier: Apache-2.0
/* What is found in the virtual machine of Java that is installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>

#include "child.h"
#include "program.h"
#include "runtimes/java/java.h"

#define OFFSET_MAX    256 /* of a field in an object of the classes at hand */
#define VIRTUAL_SINCE 21

/* A process that runs Sleep.java, with one more option, once it has used a future. */
static pid_t start(const char *option)
{
	return child_start((const char *const[]){JAVA, option, SLEEP, NULL});
}

static int inspect(const char *option, struct runtime *ret_runtime, enum why *ret_why)
{
	pid_t pid = start(option);
	_cleanup_subject_ struct subject subject = subject_of(pid);
	int err = java_inspect(&subject, ret_runtime, ret_why);

	child_end(pid);
	return err;
}

static bool is_offset(__u64 offset)
{
	return offset && offset < OFFSET_MAX;
}

static void futures(void **state)
{
	struct runtime runtime;
	enum why why = WHYS;

	(void)state;
	assert_int_equal(inspect("-XX:+UseCompressedOops", &runtime, &why), 0);
	assert_int_equal(why, WHY_NONE);
	assert_int_equal(runtime.kind, RUNTIME_JAVA);
	assert_true(runtime.java.slot && runtime.java.object && runtime.java.future_class);
	assert_true(is_offset(runtime.java.blocker));
	assert_true(is_offset(runtime.java.native) && is_offset(runtime.java.number));
	assert_true(is_offset(runtime.java.runner));
	assert_true(is_offset(runtime.java.waiters) && is_offset(runtime.java.waiter));
	assert_true(is_offset(runtime.java.callable) && runtime.java.collections);
	assert_true(is_offset(runtime.java.class));
	assert_true(runtime.java.stack && runtime.java.enters && runtime.java.waits);
	assert_true(runtime.java.buffer_start && runtime.java.buffer_top);
	assert_true(runtime.java.channel_class && is_offset(runtime.java.descriptor));
	assert_true(runtime.java.code && runtime.java.code_size && runtime.java.layout);
	assert_int_equal(runtime.java.virtual_object != 0, JAVA_VERSION >= VIRTUAL_SINCE);
}

/* Objects whose addresses are kept in 64 bits are not looked at, nor mistaken for others. */
static void other_objects(void **state)
{
	struct runtime runtime;
	enum why why = WHY_NONE;

	(void)state;
	assert_int_equal(inspect("-XX:-UseCompressedOops", &runtime, &why), -ENOTSUP);
	assert_int_equal(why, WHY_JAVA_MACHINE);
	assert_int_equal(runtime.kind, RUNTIME_JAVA);
	assert_false(runtime.java.slot || runtime.java.virtual_object || runtime.java.future_class);
}

static void another_program(void **state)
{
	_cleanup_subject_ struct subject subject = subject_of(getpid());
	struct runtime runtime;
	enum why why = WHY_NONE;

	(void)state;
	assert_int_equal(java_inspect(&subject, &runtime, &why), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(futures),
	    cmocka_unit_test(other_objects),
	    cmocka_unit_test(another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
