// SPDX-License-Identifier: Apache-2.0
/* What is read of another process is what it has; a reader that does not answer is given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "inspect/proc_message.h"
#include "inspect/proc_reader.h"

#define LARGE (3 * PROC_BYTES_MAX + 17)

static __u64 value = 0x123456789abcdef0;

/* Of this process, which the reader is a child of. */
static struct proc_reader *begin(void)
{
	struct proc_reader *reader = proc_reader_new();

	assert_non_null(reader);
	assert_int_equal(proc_reader_begin(reader, (__u32)getpid()), 0);
	return reader;
}

static void memory_is_read(void **state)
{
	struct proc_reader *reader = begin();
	char *bytes = malloc(LARGE), *read = calloc(1, LARGE);

	(void)state;
	assert_non_null(bytes);
	assert_non_null(read);
	memset(bytes, 'x', LARGE);
	bytes[LARGE - 1] = 'y';
	assert_int_equal(proc_reader_u64(reader, (__u64)(uintptr_t)&value), value);
	assert_int_equal(proc_reader_u32(reader, (__u64)(uintptr_t)&value), (__u32)value);
	assert_int_equal(proc_reader_memory(reader, (__u64)(uintptr_t)bytes, read, LARGE), 0);
	assert_memory_equal(read, bytes, LARGE);
	assert_int_equal(proc_reader_memory(reader, 8, read, 8), -EFAULT);
	assert_int_equal(proc_reader_u64(reader, 8), 0);
	assert_false(proc_reader_has_failed(reader));
	proc_reader_free(reader);
	free(bytes);
	free(read);
}

/* What is looked for among the mappings, and what is found. */
struct search {
	__u64 address;
	struct mapping found;
	char path[256];
	size_t lines;
};

static int look(const struct mapping *mapping, void *data)
{
	struct search *search = data;

	search->lines++;
	if (search->address < mapping->start || search->address >= mapping->end)
		return 0;
	search->found = *mapping;
	snprintf(search->path, sizeof(search->path), "%s", mapping->path);
	search->found.path = search->path;
	return 1;
}

static void mappings_and_their_files_are_had(void **state)
{
	struct search search = {.address = (__u64)(uintptr_t)&look}, all = {};
	_cleanup_close_ int fd = -1;
	struct proc_reader *reader = begin();
	struct mapping program;
	struct stat opened, own;

	(void)state;
	assert_int_equal(proc_reader_maps(reader, look, &search), 1);
	assert_true(search.found.executable);
	assert_int_equal(proc_reader_maps(reader, look, &all), 0);
	assert_true(all.lines > search.lines);
	fd = proc_reader_open(reader, &search.found);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(stat("/proc/self/exe", &own), 0);
	assert_int_equal(opened.st_ino, own.st_ino);
	assert_int_equal(proc_reader_program(reader, &program), 0);
	assert_int_equal(program.inode, search.found.inode);
	search.found.inode++;
	assert_int_equal(proc_reader_open(reader, &search.found), -ESTALE);
	proc_reader_free(reader);
}

static void files_are_read_as_far_as_they_fit(void **state)
{
	struct proc_reader *reader = begin();
	char text[8] = "";

	(void)state;
	assert_int_equal(proc_reader_file(reader, "comm", text, 4), 4);
	assert_memory_equal(text, "proc", 4);
	assert_int_equal(proc_reader_file(reader, "nothing", text, 4), -ENOENT);
	proc_reader_free(reader);
}

static void of_a_process_that_is_gone_there_is_nothing(void **state)
{
	struct proc_reader *reader = begin();
	struct search search = {};

	(void)state;
	assert_int_equal(proc_reader_begin(reader, 0x7fffffff), 0);
	assert_int_equal(proc_reader_maps(reader, look, &search), -ENOENT);
	assert_int_equal(search.lines, 0);
	proc_reader_free(reader);
}

/* The only child of this process. */
static pid_t child(void)
{
	char path[64];
	FILE *children;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	children = fopen(path, "re");
	assert_non_null(children);
	assert_int_equal(fscanf(children, "%d", &pid), 1);
	fclose(children);
	return pid;
}

static void who_does_not_answer_is_given_up(void **state)
{
	struct proc_reader *reader = begin();
	const pid_t first = child();
	const __u64 begin_ns = clock_now_ns();
	struct search search = {};

	(void)state;
	kill(first, SIGSTOP);
	assert_int_equal(proc_reader_u64(reader, (__u64)(uintptr_t)&value), 0);
	assert_true(proc_reader_has_failed(reader));
	assert_int_equal(proc_reader_maps(reader, look, &search), -ETIMEDOUT);
	assert_true(clock_now_ns() - begin_ns < PROC_READER_MS * (NS_PER_SECOND / 1000));
	assert_int_equal(proc_reader_given_up(reader), 1);
	assert_int_equal(proc_reader_begin(reader, (__u32)getpid()), -EAGAIN);
	assert_int_equal(kill(first, 0), -1);
	/* Others are read by another one. */
	assert_int_equal(proc_reader_begin(reader, (__u32)getppid()), 0);
	assert_int_equal(proc_reader_maps(reader, look, &search), 0);
	assert_true(search.lines > 0);
	assert_int_not_equal(child(), first);
	proc_reader_free(reader);
}

static void one_that_has_died_is_replaced(void **state)
{
	struct proc_reader *reader = begin();

	(void)state;
	kill(child(), SIGKILL);
	assert_int_equal(proc_reader_u64(reader, (__u64)(uintptr_t)&value), 0);
	assert_true(proc_reader_has_failed(reader));
	assert_int_equal(proc_reader_given_up(reader), 0);
	assert_int_equal(proc_reader_begin(reader, (__u32)getpid()), 0);
	assert_int_equal(proc_reader_u64(reader, (__u64)(uintptr_t)&value), value);
	proc_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(memory_is_read),
	    cmocka_unit_test(mappings_and_their_files_are_had),
	    cmocka_unit_test(files_are_read_as_far_as_they_fit),
	    cmocka_unit_test(of_a_process_that_is_gone_there_is_nothing),
	    cmocka_unit_test(who_does_not_answer_is_given_up),
	    cmocka_unit_test(one_that_has_died_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
