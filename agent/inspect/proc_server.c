// SPDX-License-Identifier: Apache-2.0
/*
 * The process that reads the memory of other processes and opens their files, for proc_reader.c,
 * since this may block for ever. It only passes bytes on, and does not interpret them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "inspect/mapped_file.h"
#include "inspect/proc_message.h"
#include "inspect/process_memory.h"

/* Of the process that is read; -1: not open. */
struct server {
	int proc_fd, memory_fd, file_fd;
};

static void close_all(struct server *server)
{
	cleanup_close(&server->proc_fd);
	cleanup_close(&server->memory_fd);
	cleanup_close(&server->file_fd);
	*server = (struct server){-1, -1, -1};
}

static int begin(struct server *server, __u32 tgid)
{
	close_all(server);
	server->proc_fd = mapped_file_process(tgid);
	return server->proc_fd < 0 ? server->proc_fd : 0;
}

/* As much as there is room for: the kernel gives a page of lines at a time. */
static int fill(int fd, struct proc_answer *answer)
{
	size_t used = 0;
	ssize_t got;

	do {
		got = read(fd, answer->bytes + used, sizeof(answer->bytes) - used);
		used += got > 0 ? (size_t)got : 0;
	} while (got > 0 && used < sizeof(answer->bytes));
	return got < 0 && !used ? -errno : (int)used;
}

static int read_file(struct server *server, const struct proc_question *question,
		     struct proc_answer *answer)
{
	if (!question->address) {
		cleanup_close(&server->file_fd);
		server->file_fd = openat(server->proc_fd, question->text, O_RDONLY | O_CLOEXEC);
	}
	return server->file_fd < 0 ? -errno : fill(server->file_fd, answer);
}

static int read_memory(struct server *server, const struct proc_question *question,
		       struct proc_answer *answer)
{
	if (question->size > sizeof(answer->bytes))
		return -E2BIG;
	if (server->memory_fd < 0)
		server->memory_fd = openat(server->proc_fd, "mem", O_RDONLY | O_CLOEXEC);
	if (server->memory_fd < 0)
		return -errno;
	return process_memory_read(server->memory_fd, question->address, answer->bytes,
				   question->size)
		   ? -EFAULT
		   : (int)question->size;
}

static int open_file(const struct server *server, struct proc_question *question, int *ret_fd)
{
	question->mapping.path = question->text;
	*ret_fd = mapped_file_open(server->proc_fd, &question->mapping);
	return *ret_fd < 0 ? *ret_fd : 0;
}

static int find_program(const struct server *server, struct proc_answer *answer)
{
	_cleanup_close_ int fd = mapped_file_open_program(server->proc_fd);

	return fd < 0 ? fd : mapped_file_identity(fd, &answer->mapping);
}

static int do_one(struct server *server, struct proc_question *question, struct proc_answer *answer,
		  int *ret_fd)
{
	int err = question->begin ? begin(server, question->begin) : 0;

	if (err)
		return err;
	switch (question->what) {
	case PROC_FILE:
		return read_file(server, question, answer);
	case PROC_MEMORY:
		return read_memory(server, question, answer);
	case PROC_OPEN:
		return open_file(server, question, ret_fd);
	case PROC_PROGRAM:
		return find_program(server, answer);
	default:
		return -EINVAL;
	}
}

static int send_answer(int socket, const struct proc_answer *answer, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} rights = {};
	struct iovec data = {(void *)answer,
			     PROC_ANSWER_MIN + (answer->result > 0 ? (size_t)answer->result : 0)};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	if (fd >= 0) {
		rights.header.cmsg_level = SOL_SOCKET;
		rights.header.cmsg_type = SCM_RIGHTS;
		rights.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&rights.header), &fd, sizeof(int));
		message.msg_control = &rights;
		message.msg_controllen = sizeof(rights);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)data.iov_len ? 0 : -errno;
}

static int answer_one(int socket, struct server *server, struct proc_question *question)
{
	static struct proc_answer answer;
	_cleanup_close_ int fd = -1;

	memset(&answer.mapping, 0, sizeof(answer.mapping));
	answer.result = do_one(server, question, &answer, &fd);
	return send_answer(socket, &answer, fd);
}

int proc_server_run(int socket)
{
	struct server server = {-1, -1, -1};
	struct proc_question question;
	ssize_t got;
	int err = 0;

	while (!err && (got = read(socket, &question, sizeof(question))) != 0) {
		if (got <= (ssize_t)PROC_QUESTION_MIN)
			return got < 0 ? -errno : -EBADMSG;
		question.text[(size_t)got - PROC_QUESTION_MIN - 1] = '\0';
		err = answer_one(socket, &server, &question);
	}
	return err;
}
