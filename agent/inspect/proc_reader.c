// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "inspect/proc_message.h"
#include "inspect/proc_reader.h"
#include "inspect/sandbox.h"
#include "inspect/unreadable.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)
#define LOOK_MS   50  /* at what the reader does */
#define KILL_MS   100 /* for its end: it may be left behind */
#define STILL_NS  (PROC_READER_STILL_MS * NS_PER_MS)

struct proc_reader {
	struct sandbox sandbox;
	struct unreadable unreadable;
	__u32 tgid;   /* that is read */
	__u32 begins; /* the same if nothing was asked of it yet, else 0 */
	bool has_failed;
	__u64 given_up;
	struct proc_question question;
	struct proc_answer answer;
};

/* It lives as long as this process, and is idle most of the time. */
static const struct sandbox_limits limits = {.cpu_seconds = 300, .data_bytes = 1UL << 30};

static int work(int socket, void *data)
{
	(void)data;
	return proc_server_run(socket);
}

/* 0 or -errno. */
static int have_server(struct proc_reader *reader)
{
	return reader->sandbox.pid ? 0
				   : sandbox_start_within(&limits, work, NULL, &reader->sandbox);
}

struct proc_reader *proc_reader_new(void)
{
	struct proc_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->sandbox = SANDBOX_NONE;
	have_server(reader); /* else it is tried again */
	return reader;
}

static void end_server(struct proc_reader *reader)
{
	if (reader->sandbox.pid)
		child_kill(reader->sandbox.pid, reader->sandbox.pidfd, KILL_MS);
	reader->sandbox.pid = 0;
	sandbox_close(&reader->sandbox);
}

void proc_reader_free(struct proc_reader *reader)
{
	if (reader)
		end_server(reader);
	free(reader);
}

bool proc_reader_has_failed(const struct proc_reader *reader)
{
	return reader->has_failed;
}

__u64 proc_reader_given_up(const struct proc_reader *reader)
{
	return reader->given_up;
}

void proc_reader_give_up(struct proc_reader *reader, __u64 waited_ns)
{
	struct unreadable_process process;

	if (!unreadable_identify(reader->tgid, &process))
		unreadable_mark(&reader->unreadable, &process, waited_ns, clock_now_ns());
	reader->has_failed = true;
	reader->given_up++;
}

/* 0; -ETIMEDOUT: the reader waits for what does not come; -EPIPE: it has ended. */
static int wait_for_answer(const struct proc_reader *reader, __u64 end_ns)
{
	struct pollfd answer = {.fd = reader->sandbox.socket, .events = POLLIN};
	struct child_progress progress = {};

	bool is_late = false;

	/* It may have answered while this process waited for a processor. */
	for (;;) {
		const int ready = poll(&answer, 1, is_late ? 0 : LOOK_MS);

		if (ready > 0)
			return answer.revents & POLLIN ? 0 : -EPIPE;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (is_late)
			return -ETIMEDOUT;
		is_late = clock_now_ns() >= end_ns ||
			  child_still_ns(&progress, reader->sandbox.pid) >= STILL_NS;
	}
}

/* The descriptor that came with a message; -1: none did. */
static int take_descriptor(struct msghdr *message)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(header), sizeof(int));
	return fd;
}

/* 0, or -EPIPE: it makes no sense. */
static int take_answer(struct proc_reader *reader, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} rights;
	struct iovec data = {&reader->answer, sizeof(reader->answer)};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &rights,
				 .msg_controllen = sizeof(rights)};
	const ssize_t size =
	    recvmsg(reader->sandbox.socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const int result = size < (ssize_t)PROC_ANSWER_MIN ? -EPIPE : reader->answer.result;

	*ret_fd = size < 0 ? -1 : take_descriptor(&message);
	return size == (ssize_t)PROC_ANSWER_MIN + (result > 0 ? result : 0) ? 0 : -EPIPE;
}

static int send_question(const struct proc_reader *reader)
{
	const struct proc_question *question = &reader->question;
	const size_t size = PROC_QUESTION_MIN + strlen(question->text) + 1;

	return send(reader->sandbox.socket, question, size, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		       (ssize_t)size
		   ? 0
		   : -EPIPE;
}

/* Returns the result of the answer, or -ETIMEDOUT. `ret_fd` is to be closed. */
static int ask_with(struct proc_reader *reader, int *ret_fd)
{
	int err = send_question(reader);

	*ret_fd = -1;
	if (!err)
		err = wait_for_answer(reader, clock_now_ns() + PROC_READER_MS * NS_PER_MS);
	if (!err)
		err = take_answer(reader, ret_fd);
	if (!err)
		return reader->answer.result;
	end_server(reader);
	reader->has_failed = true;
	/* Time that it waited for a processor is not counted. */
	if (err == -ETIMEDOUT)
		proc_reader_give_up(reader, STILL_NS);
	return -ETIMEDOUT;
}

static int ask(struct proc_reader *reader, const struct proc_question *question, const char *text,
	       int *ret_fd)
{
	*ret_fd = -1;
	if (reader->has_failed)
		return -ETIMEDOUT;
	memcpy(&reader->question, question, PROC_QUESTION_MIN);
	reader->question.begin = reader->begins;
	reader->begins = 0;
	text_copy(reader->question.text, sizeof(reader->question.text), text);
	return ask_with(reader, ret_fd);
}

static int ask_for_bytes(struct proc_reader *reader, const struct proc_question *question,
			 const char *text)
{
	_cleanup_close_ int fd = -1;

	return ask(reader, question, text, &fd);
}

/* Mostly no process is left alone; then it need not be identified. */
static bool is_left_alone(const struct proc_reader *reader, __u32 tgid)
{
	struct unreadable_process process;

	return reader->given_up && !unreadable_identify(tgid, &process) &&
	       unreadable_is(&reader->unreadable, &process, clock_now_ns());
}

int proc_reader_begin(struct proc_reader *reader, __u32 tgid)
{
	reader->has_failed = true;
	if (is_left_alone(reader, tgid) || have_server(reader))
		return -EAGAIN;
	reader->has_failed = false;
	reader->tgid = reader->begins = tgid;
	return 0;
}

/* The next piece of a file that begins at `from`. How many bytes, or -errno. */
static int read_piece(struct proc_reader *reader, const char *name, __u64 from)
{
	struct proc_question question;

	memset(&question, 0, PROC_QUESTION_MIN);
	question.what = PROC_FILE;
	question.address = from;
	return ask_for_bytes(reader, &question, name);
}

long proc_reader_file(struct proc_reader *reader, const char *name, char *to, size_t size)
{
	size_t used = 0, part;
	int got;

	do {
		got = read_piece(reader, name, used);
		part = got > 0 ? (size_t)got : 0;
		if (part > size - used)
			part = size - used;
		memcpy(to + used, reader->answer.bytes, part);
		used += part;
	} while (got == PROC_BYTES_MAX && used < size);
	return got < 0 ? got : (long)used;
}

/* Grows by what is read. How many bytes there are, without a NUL, or -errno; the caller frees it.
 */
static long read_maps(struct proc_reader *reader, char **ret_text)
{
	size_t used = 0;
	char *text;
	int got;

	do {
		got = read_piece(reader, "maps", used);
		if (got <= 0)
			break;
		text = realloc(*ret_text, used + (size_t)got + 1);
		if (!text)
			return -ENOMEM;
		*ret_text = text;
		memcpy(text + used, reader->answer.bytes, (size_t)got);
		used += (size_t)got;
	} while (got == PROC_BYTES_MAX && used < PROC_READER_MAPS_MAX);
	return got < 0 ? got : (long)used;
}

int proc_reader_maps(struct proc_reader *reader,
		     int (*visit)(const struct mapping *mapping, void *data), void *data)
{
	_cleanup_free_ char *text = NULL;
	const long size = read_maps(reader, &text);
	struct mapping mapping;
	int result = 0;
	char *end;

	if (size <= 0)
		return (int)size;
	text[size] = '\0';
	/* Ignore a line that was cut off at the end. */
	for (char *line = text; !result && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (!mapping_parse(line, &mapping))
			result = visit(&mapping, data);
	}
	return result;
}

int proc_reader_memory(struct proc_reader *reader, __u64 address, void *to, size_t size)
{
	struct proc_question question;
	int got;

	for (size_t part; size; size -= part, address += part, to = (char *)to + part) {
		part = size < PROC_BYTES_MAX ? size : PROC_BYTES_MAX;
		memset(&question, 0, PROC_QUESTION_MIN);
		question.what = PROC_MEMORY;
		question.address = address;
		question.size = part;
		got = ask_for_bytes(reader, &question, "");
		if (got != (int)part)
			return got == -ETIMEDOUT ? got : -EFAULT;
		memcpy(to, reader->answer.bytes, part);
	}
	return 0;
}

__u64 proc_reader_u64(struct proc_reader *reader, __u64 address)
{
	__u64 value;

	return proc_reader_memory(reader, address, &value, sizeof(value)) ? 0 : value;
}

__u32 proc_reader_u32(struct proc_reader *reader, __u64 address)
{
	__u32 value;

	return proc_reader_memory(reader, address, &value, sizeof(value)) ? 0 : value;
}

int proc_reader_open(struct proc_reader *reader, const struct mapping *mapping)
{
	struct proc_question question;
	int fd, err;

	memset(&question, 0, PROC_QUESTION_MIN);
	question.what = PROC_OPEN;
	question.mapping = *mapping;
	question.mapping.path = NULL;
	err = ask(reader, &question, mapping->path, &fd);
	if (!err && fd >= 0)
		return fd;
	cleanup_close(&fd);
	return err < 0 ? err : -EIO;
}

int proc_reader_program(struct proc_reader *reader, struct mapping *ret_identity)
{
	struct proc_question question;
	int err;

	memset(&question, 0, PROC_QUESTION_MIN);
	question.what = PROC_PROGRAM;
	err = ask_for_bytes(reader, &question, "");
	if (err < 0)
		return err;
	*ret_identity = reader->answer.mapping;
	ret_identity->path = "";
	return 0;
}
