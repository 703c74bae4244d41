// SPDX-License-Identifier: Apache-2.0
/* The files of a process: the very inodes that it has mapped, whatever others do to their paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/mapped_file.h"
#include "inspect/subject.h"

#define PREFIX  "libstranger."
#define CONTENT "the contents that were mapped"
#define OTHER   "those of a file that was not"

static const struct subject_wanted wanted = {.prefix = PREFIX};

struct folder {
	char path[64], file[96], deleted[112], other[96];
	void *mapped;
};

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* This process maps a file of its own, as code. */
static struct folder mapped_in(void)
{
	struct folder folder = {.path = "/tmp/subject_test.XXXXXX"};
	int fd;

	assert_non_null(mkdtemp(folder.path));
	snprintf(folder.file, sizeof(folder.file), "%s/" PREFIX "so", folder.path);
	snprintf(folder.deleted, sizeof(folder.deleted), "%s (deleted)", folder.file);
	snprintf(folder.other, sizeof(folder.other), "%s/other", folder.path);
	write_file(folder.file, CONTENT);
	write_file(folder.other, OTHER);
	fd = open(folder.file, O_RDONLY | O_CLOEXEC);
	folder.mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(folder.mapped != MAP_FAILED);
	close(fd);
	return folder;
}

static void remove_folder(struct folder *folder)
{
	munmap(folder->mapped, 4096);
	unlink(folder->file);
	unlink(folder->deleted);
	unlink(folder->other);
	assert_int_equal(rmdir(folder->path), 0);
}

static void assert_contents(int fd)
{
	char text[sizeof(CONTENT)] = "";

	assert_int_equal(pread(fd, text, sizeof(text), 0), strlen(CONTENT));
	assert_string_equal(text, CONTENT);
}

/* As it was mapped: to be read, run from its beginning to its end of a page, and sent. */
static void a_file_that_stays(void **state)
{
	struct folder folder = mapped_in();
	struct subject subject, received;
	const struct subject_file *file;
	int ends[2];

	(void)state;
	assert_int_equal(subject_open((__u32)getpid(), &wanted, 1, &subject), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(subject_send(ends[0], &subject), 0);
	assert_int_equal(subject_receive(ends[1], &received), 0);
	file = subject_find(&received, PREFIX);
	assert_non_null(file);
	assert_contents(file->fd);
	assert_int_equal(file->start, (__u64)folder.mapped);
	assert_true(subject_file_runs(file, 0) && subject_file_runs(file, 4095));
	assert_false(subject_file_runs(file, 4096));
	assert_true(received.file[SUBJECT_PROGRAM].range_count > 0);
	assert_int_equal(received.memory_fd, -1);
	assert_int_equal(received.started, subject.started);
	subject_close(&received);
	subject_close(&subject);
	close(ends[0]);
	close(ends[1]);
	remove_folder(&folder);
}

/* As the kernel would tell of it, but that no link of the kernel's leads to it. */
static int find_mapping(const struct mapping *mapping, void *data)
{
	struct mapping *found = data;
	static char path[PATH_MAX];

	if (!strstr(mapping->path, PREFIX))
		return 0;
	*found = *mapping;
	snprintf(path, sizeof(path), "%s", mapping->path);
	found->path = path;
	found->end = found->start + 1;
	return 1;
}

static int open_by_path(void)
{
	int proc_fd = mapped_file_process((__u32)getpid()), fd;
	struct mapping mapping;

	assert_true(proc_fd >= 0);
	assert_int_equal(mapping_each(proc_fd, find_mapping, &mapping), 1);
	fd = mapped_file_open(proc_fd, &mapping);
	close(proc_fd);
	return fd;
}

static void by_its_path(void **state)
{
	struct folder folder = mapped_in();
	int fd = open_by_path();

	(void)state;
	assert_true(fd >= 0);
	assert_contents(fd);
	close(fd);
	remove_folder(&folder);
}

/* What a user can put in place of a file that was deleted. */
static void replaced_by_a_link(void **state)
{
	struct folder folder = mapped_in();

	(void)state;
	assert_int_equal(unlink(folder.file), 0);
	assert_int_equal(open_by_path(), -ESTALE);
	assert_int_equal(symlink(folder.other, folder.deleted), 0);
	assert_int_equal(open_by_path(), -ESTALE);
	remove_folder(&folder);
}

static void replaced_by_a_file(void **state)
{
	struct folder folder = mapped_in();

	(void)state;
	assert_int_equal(unlink(folder.file), 0);
	assert_int_equal(link(folder.other, folder.deleted), 0);
	assert_int_equal(open_by_path(), -ESTALE);
	remove_folder(&folder);
}

/* Opening it would wait for a writer. */
static void replaced_by_a_fifo(void **state)
{
	struct folder folder = mapped_in();

	(void)state;
	assert_int_equal(unlink(folder.file), 0);
	assert_int_equal(mkfifo(folder.deleted, 0600), 0);
	assert_int_equal(open_by_path(), -EACCES);
	remove_folder(&folder);
}

static void not_a_process(void **state)
{
	struct subject subject;

	(void)state;
	assert_int_equal(subject_open(1U << 30, &wanted, 1, &subject), -ENOENT);
	assert_int_equal(subject.file_count, 0);
}

/* Messages that no subject_send() has sent. */
static void other_messages(void **state)
{
	struct subject subject = {.file_count = 3}, received;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(subject_receive(ends[1], &received), -EAGAIN);
	assert_int_equal(send(ends[0], &subject, 100, 0), 100);
	assert_int_equal(subject_receive(ends[1], &received), -EBADMSG);
	assert_int_equal(send(ends[0], &subject, sizeof(subject), 0), sizeof(subject));
	assert_int_equal(subject_receive(ends[1], &received), -EBADMSG); /* without descriptors */
	subject.file_count = ~0U;
	assert_int_equal(send(ends[0], &subject, sizeof(subject), 0), sizeof(subject));
	assert_int_equal(subject_receive(ends[1], &received), -EBADMSG);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_file_that_stays),  cmocka_unit_test(by_its_path),
	    cmocka_unit_test(replaced_by_a_link), cmocka_unit_test(replaced_by_a_file),
	    cmocka_unit_test(replaced_by_a_fifo), cmocka_unit_test(not_a_process),
	    cmocka_unit_test(other_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
