// SPDX-License-Identifier: Apache-2.0
/* What is found in real Go programs, held against the bytes that stand there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "program.h"
#include "runtimes/go/golang.h"

#define CALL      0xe8
#define JBE_SHORT 0x76
#define JBE       0x0f

static __u8 byte_at(int fd, __u64 offset)
{
	__u8 byte;

	assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
	return byte;
}

/* The kernel can do what stands there by itself. */
static void check_site(const char *name, const struct probe_site *site, int fd)
{
	__u8 code = byte_at(fd, site->offset);

	if (code != CALL && code != JBE && code != JBE_SHORT)
		fail_msg("%s: probe %d is at an instruction 0x%02x", name, site->probe, code);
}

static void check_counts(const struct golang *golang)
{
	unsigned int count[GOLANG_PROBES] = {};

	for (__u32 i = 0; i < golang->sites.count; i++)
		count[golang->sites.site[i].probe]++;
	assert_int_equal(count[GOLANG_STARTED], 1);
	assert_int_equal(count[GOLANG_CONNECTION], 2);
	assert_int_equal(count[GOLANG_ROUND_TRIP], 1);
	assert_int_equal(count[GOLANG_SEND], 1);
	assert_int_equal(count[GOLANG_RECEIVE], 1);
	assert_int_equal(count[GOLANG_STORE], 3); /* send; select: a send, a receive */
	assert_true(count[GOLANG_TAKE] >= 4);     /* receive, select; from closed channels, too */
	assert_int_equal(count[GOLANG_WAKES], 2); /* by a closed channel; by a semaphore */
	assert_int_equal(count[GOLANG_CLOSES], 1);
	assert_int_equal(count[GOLANG_GROUP], 1);
}

static void check_program(const char *name)
{
	char path[512];
	struct program program;
	struct golang golang;
	enum why why = WHY_NONE;

	snprintf(path, sizeof(path), "%s/%s", GO_PROGRAMS, name);
	program = program_at(path);
	if (golang_inspect(program.image, &golang, &why))
		fail_msg("%s: %s", name, why_text(why));
	assert_int_equal(golang.runtime.kind, RUNTIME_GO);
	assert_true(golang.minor >= 18);
	assert_int_equal(golang.runtime.go.g_offset, -8);
	assert_true(golang.runtime.go.watchers[0]);
	for (int i = 0; i < RUNTIME_WAITS; i++)
		assert_true(golang.runtime.go.waits[i].start < golang.runtime.go.waits[i].end);
	for (int i = 0; i < 2; i++) /* of the others, the compiler may have made one */
		assert_true(golang.runtime.go.calls[i].start < golang.runtime.go.calls[i].end);
	for (__u32 i = 0; i < golang.sites.count; i++)
		check_site(name, &golang.sites.site[i], program.fd);
	check_counts(&golang);
	program_close(&program);
}

static void plain(void **state)
{
	(void)state;
	check_program("go_plain");
}

static void stripped(void **state)
{
	(void)state;
	check_program("go_stripped");
}

static void position_independent(void **state)
{
	(void)state;
	check_program("go_pie");
}

/* Linked by the C linker: the table of functions has no section of its own, and is relocated. */
static void position_independent_cgo(void **state)
{
	(void)state;
	check_program("go_pie_cgo");
}

static void other_programs_are_not_go(void **state)
{
	_cleanup_program_ struct program program = program_of(getpid());
	struct elf_image *image;
	struct golang golang;
	enum why why;
	int fd;

	(void)state;
	assert_int_equal(golang_inspect(program.image, &golang, &why), -ENOENT);
	fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_image_open(fd, &image), -ENOEXEC);
	close(fd);
}

static const struct classified *nobody_knows(const struct stat *file, void *data)
{
	(void)file;
	(void)data;
	return NULL;
}

/* Where it was loaded cannot be told of a process that ends: that is no fault of the file. */
static void a_process_that_ends(void **state)
{
	struct program program = program_at(GO_PROGRAMS "/go_plain");
	struct subject subject = {.file_count = 1, .memory_fd = -1, .entry = 0};
	struct classified found;

	(void)state;
	subject.file[SUBJECT_PROGRAM].fd = program.fd;
	assert_int_equal(classify(&subject, nobody_knows, NULL, &found), 0);
	assert_int_equal(found.runtime.kind, RUNTIME_OPAQUE);
	assert_string_equal(runtime_driver_name(&found), "Go");
	assert_int_equal(found.sites.count, 0);
	subject.entry = elf_image_entry(program.image);
	assert_int_equal(classify(&subject, nobody_knows, NULL, &found), 0);
	assert_int_equal(found.runtime.kind, RUNTIME_GO);
	program_close(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain),
	    cmocka_unit_test(stripped),
	    cmocka_unit_test(position_independent),
	    cmocka_unit_test(position_independent_cgo),
	    cmocka_unit_test(other_programs_are_not_go),
	    cmocka_unit_test(a_process_that_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
