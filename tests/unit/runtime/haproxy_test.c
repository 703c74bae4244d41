// SPDX-License-Identifier: Apache-2.0
/* What is found in HAProxy: this program has the same symbols, and can look at itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "program.h"
#include "runtimes/haproxy/haproxy.h"
#include "inspect/library.h"

#define PUSH_RBX 0x53

/* As in HAProxy, they are there for others to link with; somewhere in its own storage. */
__thread char before[1000];
__thread void *th_ctx;
__thread char behind[3000];

void process_stream(void);
void accept_queue_process(void);

void process_stream(void)
{
}

void accept_queue_process(void)
{
}

__asm__(".globl flt_stream_start\n"
	".type flt_stream_start, @function\n"
	"flt_stream_start: endbr64; push %rbx; pop %rbx; ret\n");

static int inspect(const char *path, struct haproxy *ret_haproxy)
{
	_cleanup_program_ struct program program = program_at(path);

	return haproxy_inspect(program.image, ret_haproxy);
}

static void places(void **state)
{
	struct haproxy haproxy;
	struct runtime_haproxy *found = &haproxy.runtime.haproxy;
	char *thread;
	_cleanup_subject_ struct subject self = subject_of(getpid());
	__u64 bias;

	(void)state;
	before[0] = behind[0] = 0;
	__asm__("mov %%fs:0, %0" : "=r"(thread));
	assert_int_equal(inspect("/proc/self/exe", &haproxy), 0);
	assert_int_equal(haproxy.runtime.kind, RUNTIME_HAPROXY);
	assert_int_equal(library_program_bias(&self, haproxy.entry, &bias), 0);
	haproxy_relocate(&haproxy.runtime, bias);
	assert_int_equal(found->process_stream, (__u64)process_stream);
	assert_int_equal(found->accept, (__u64)accept_queue_process);
	assert_ptr_equal(thread + found->scheduler, &th_ctx);
}

static void place_of_the_probe(void **state)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct haproxy haproxy;
	__u8 code;

	(void)state;
	assert_int_equal(inspect("/proc/self/exe", &haproxy), 0);
	assert_int_equal(haproxy.sites.count, 1);
	assert_int_equal(pread(fd, &code, 1, (off_t)haproxy.sites.site[0].offset), 1);
	assert_int_equal(code, PUSH_RBX);
}

static void other_programs(void **state)
{
	struct haproxy haproxy;

	(void)state;
	assert_int_equal(inspect("/bin/sh", &haproxy), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(places),
	    cmocka_unit_test(place_of_the_probe),
	    cmocka_unit_test(other_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
