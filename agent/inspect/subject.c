// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "inspect/mapped_file.h"
#include "inspect/subject.h"

#define STAT_SIZE  1024
#define STAT_START 22 /* number of the field: proc_pid_stat(5) */

/* What is gathered in one walk through the mappings. */
struct walk {
	struct subject *subject;
	int proc_fd;
	const struct subject_wanted *wanted;
	size_t count;
	struct mapping identity[SUBJECT_FILES_MAX]; /* of the files that are open */
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What the kernel tells of an open file. Closes it, and keeps why, if that fails. */
static void describe(struct subject_file *file)
{
	struct statfs system;
	int err;

	if (!fstat(file->fd, &file->stat) && !fstatfs(file->fd, &system)) {
		file->overlaid = system.f_type == OVERLAYFS_SUPER_MAGIC;
		return;
	}
	err = -errno;
	close(file->fd);
	file->fd = err;
}

static const struct subject_wanted *find_wanted(const struct walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->count; i++)
		if (!strncmp(name, walk->wanted[i].prefix, strlen(walk->wanted[i].prefix)))
			return &walk->wanted[i];
	return NULL;
}

static int add_library(const struct mapping *mapping, void *data)
{
	struct walk *walk = data;
	struct subject *subject = walk->subject;
	const char *name = last_part(mapping->path);
	const struct subject_wanted *wanted = NULL;
	struct subject_file *file = &subject->file[subject->file_count];

	if (mapping->inode && !mapping->offset)
		wanted = find_wanted(walk, name);
	if (!wanted || subject_find(subject, wanted->prefix))
		return 0;
	*file = (struct subject_file){.fd = mapped_file_open(walk->proc_fd, mapping),
				      .start = mapping->start,
				      .memory = wanted->memory};
	text_copy(file->name, sizeof(file->name), name);
	if (file->fd >= 0)
		describe(file);
	walk->identity[subject->file_count] = *mapping;
	return ++subject->file_count == SUBJECT_FILES_MAX;
}

static void add_range(struct subject_file *file, const struct mapping *mapping)
{
	if (file->range_count < SUBJECT_RANGES_MAX)
		file->range[file->range_count++] = (struct subject_range){
		    mapping->offset, mapping->offset + (mapping->end - mapping->start)};
}

static int add_code(const struct mapping *mapping, void *data)
{
	struct walk *walk = data;

	for (__u32 i = 0; mapping->executable && i < walk->subject->file_count; i++)
		if (walk->subject->file[i].fd >= 0 &&
		    mapped_file_is_same(&walk->identity[i], mapping))
			add_range(&walk->subject->file[i], mapping);
	return 0;
}

static int open_program(struct walk *walk)
{
	struct subject_file *program = &walk->subject->file[SUBJECT_PROGRAM];
	char path[PATH_MAX];
	ssize_t length = readlinkat(walk->proc_fd, "exe", path, sizeof(path) - 1);

	*program = (struct subject_file){.fd = mapped_file_open_program(walk->proc_fd)};
	if (program->fd < 0)
		return program->fd;
	path[length < 0 ? 0 : length] = '\0';
	text_copy(program->name, sizeof(program->name), last_part(path));
	walk->subject->file_count = 1;
	describe(program);
	return program->fd < 0
		   ? program->fd
		   : mapped_file_identity(program->fd, &walk->identity[SUBJECT_PROGRAM]);
}

/* Read a small file of the process. Returns its size, or -errno. */
static ssize_t read_file(int proc_fd, const char *name, void *to, size_t size)
{
	_cleanup_close_ int fd = openat(proc_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, to, size);

	return length < 0 ? -errno : length;
}

/* The kernel tells every program where its entry is, beside other things. */
static void read_entry(int proc_fd, struct subject *subject)
{
	Elf64_auxv_t told[64] = {};
	ssize_t size = read_file(proc_fd, "auxv", told, sizeof(told));

	for (size_t i = 0; size > 0 && (i + 1) * sizeof(told[0]) <= (size_t)size; i++)
		if (told[i].a_type == AT_ENTRY)
			subject->entry = told[i].a_un.a_val;
}

/* The name of the program, the second field, may have blanks and parentheses in it. */
static int read_start(int proc_fd, struct subject *subject)
{
	char text[STAT_SIZE];
	ssize_t size = read_file(proc_fd, "stat", text, sizeof(text) - 1);
	char *at;

	if (size < 0)
		return (int)size;
	text[size] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; at && field < STAT_START; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -EINVAL;
	subject->started = strtoull(at + 1, NULL, 10);
	return 0;
}

static int open_memory(int proc_fd, struct subject *subject)
{
	bool wanted = false;

	for (__u32 i = 0; i < subject->file_count; i++)
		wanted = wanted || subject->file[i].memory;
	if (!wanted)
		return 0;
	subject->memory_fd = openat(proc_fd, "mem", O_RDONLY | O_CLOEXEC);
	return subject->memory_fd < 0 ? -errno : 0;
}

static int gather(struct walk *walk)
{
	int err = read_start(walk->proc_fd, walk->subject);

	if (!err)
		err = open_program(walk);
	if (!err)
		err = mapping_each(walk->proc_fd, add_library, walk);
	if (err >= 0)
		err = mapping_each(walk->proc_fd, add_code, walk);
	if (err >= 0)
		err = open_memory(walk->proc_fd, walk->subject);
	read_entry(walk->proc_fd, walk->subject);
	return err;
}

int subject_open(__u32 tgid, const struct subject_wanted *wanted, size_t count,
		 struct subject *ret_subject)
{
	_cleanup_close_ int proc_fd = mapped_file_process(tgid);
	struct walk walk = {
	    .subject = ret_subject, .proc_fd = proc_fd, .wanted = wanted, .count = count};
	int err = proc_fd < 0 ? proc_fd : 0;

	*ret_subject = SUBJECT_NONE;
	ret_subject->tgid = tgid;
	if (!err)
		err = gather(&walk);
	if (err < 0)
		subject_close(ret_subject);
	return err < 0 ? err : 0;
}

void subject_close(struct subject *subject)
{
	for (__u32 i = 0; i < subject->file_count; i++)
		cleanup_close(&subject->file[i].fd);
	cleanup_close(&subject->memory_fd);
	*subject = SUBJECT_NONE;
}

const struct subject_file *subject_find(const struct subject *subject, const char *prefix)
{
	for (__u32 i = SUBJECT_PROGRAM + 1; i < subject->file_count; i++)
		if (!strncmp(subject->file[i].name, prefix, strlen(prefix)))
			return &subject->file[i];
	return NULL;
}

bool subject_file_runs(const struct subject_file *file, __u64 offset)
{
	for (__u8 i = 0; i < file->range_count; i++)
		if (offset >= file->range[i].from && offset < file->range[i].to)
			return true;
	return false;
}

/* Room for the descriptors of all files. */
union rights {
	struct cmsghdr header;
	char room[CMSG_SPACE(SUBJECT_FILES_MAX * sizeof(int))];
};

int subject_send(int socket, const struct subject *subject)
{
	int fds[SUBJECT_FILES_MAX], count = 0;
	struct iovec data = {.iov_base = (void *)subject, .iov_len = sizeof(*subject)};
	union rights rights = {};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &rights};

	for (__u32 i = 0; i < subject->file_count; i++)
		if (subject->file[i].fd >= 0)
			fds[count++] = subject->file[i].fd;
	rights.header.cmsg_level = SOL_SOCKET;
	rights.header.cmsg_type = SCM_RIGHTS;
	rights.header.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
	memcpy(CMSG_DATA(&rights.header), fds, (size_t)count * sizeof(int));
	message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*subject) ? 0 : -errno;
}

/* The descriptors that came with a message: how many. */
static int take_rights(struct msghdr *message, int fds[SUBJECT_FILES_MAX])
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	size_t size;

	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return 0;
	size = header->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(header), size);
	return (int)(size / sizeof(int));
}

/* Each open file gets one, in their order; there must be as many. */
static int hand_out(struct subject *subject, const int *fds, int count)
{
	int used = 0;

	subject->memory_fd = -1;
	if (subject->file_count > SUBJECT_FILES_MAX)
		subject->file_count = 0;
	for (__u32 i = 0; i < subject->file_count; i++) {
		struct subject_file *file = &subject->file[i];

		if (file->fd >= 0)
			file->fd = used < count ? fds[used++] : -EBADMSG;
		if (file->range_count > SUBJECT_RANGES_MAX)
			file->range_count = 0;
		file->name[SUBJECT_NAME_MAX - 1] = '\0';
	}
	for (int i = used; i < count; i++)
		close(fds[i]);
	if (subject->file_count && used == count && subject->file[SUBJECT_PROGRAM].fd >= 0)
		return 0;
	subject_close(subject);
	return -EBADMSG;
}

int subject_receive(int socket, struct subject *ret_subject)
{
	int fds[SUBJECT_FILES_MAX], count;
	struct iovec data = {.iov_base = ret_subject, .iov_len = sizeof(*ret_subject)};
	union rights rights = {};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &rights,
				 .msg_controllen = sizeof(rights)};
	ssize_t size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (size < 0) {
		*ret_subject = SUBJECT_NONE;
		return -errno;
	}
	count = take_rights(&message, fds);
	if (size != (ssize_t)sizeof(*ret_subject))
		ret_subject->file_count = 0;
	return hand_out(ret_subject, fds, count);
}
