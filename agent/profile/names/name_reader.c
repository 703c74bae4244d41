// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/names/name_reader.h"
#include "profile/names/runtime_text.h"

/* What is asked: a function, with what its `compiled` points at behind it. */
struct question {
	struct named_code code;
	struct runtime_compiled compiled;
	bool is_compiled; /* that is known */
};

/* Sent up to the end of its text. */
struct answer {
	int result;
	char text[NAMED_TEXT_MAX];
};

#define ANSWER_MIN offsetof(struct answer, text)

static void read_name(int memory, const struct question *question, struct answer *ret)
{
	struct named_code code = question->code;
	const struct runtime_names *names = runtime_names_of(code.kind);

	code.compiled = question->is_compiled ? &question->compiled : NULL;
	ret->result = names ? names->read(memory, &code, ret->text) : -EINVAL;
}

/* In the sandbox. */
static int answer_all(int socket, int memory)
{
	struct question question;
	struct answer answer;
	ssize_t got;

	while ((got = read(socket, &question, sizeof(question))) != 0) {
		size_t size = ANSWER_MIN;

		if (got != (ssize_t)sizeof(question))
			return -EBADMSG;
		read_name(memory, &question, &answer);
		if (answer.result >= 0)
			size += strlen(answer.text) + 1;
		if (send(socket, &answer, size, MSG_NOSIGNAL) != (ssize_t)size)
			return -errno;
	}
	return 0;
}

static int work(int socket, void *data)
{
	const __u32 *tgid = data;
	char path[32];
	int memory, err;

	snprintf(path, sizeof(path), "/proc/%u/mem", *tgid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	err = memory < 0 ? -errno : sandbox_confine();
	return err ? err : answer_all(socket, memory);
}

int name_reader_start(__u32 tgid, struct sandbox *ret_reader)
{
	return sandbox_start(work, &tgid, ret_reader);
}

bool name_reader_has_time(const struct sandbox *reader)
{
	return clock_now_ns() + NS_PER_SECOND < reader->end_ns;
}

/* 0; -ETIMEDOUT; -EPIPE: there is nobody who could answer. */
static int wait_for_answer(const struct sandbox *reader)
{
	const __u64 end_ns = clock_now_ns() + NAME_READER_ANSWER_MS * (__u64)(NS_PER_SECOND / 1000);
	struct pollfd answer = {.fd = reader->socket, .events = POLLIN};
	int ready;

	do
		ready = poll(&answer, 1, clock_ms_until(end_ns));
	while (ready < 0 && errno == EINTR);
	if (!ready)
		return -ETIMEDOUT;
	return ready > 0 && answer.revents & POLLIN ? 0 : -EPIPE;
}

/* It may have been taken over, and say anything. */
static bool makes_sense(const struct answer *answer, ssize_t size)
{
	struct runtime_text parts;

	if (size < (ssize_t)ANSWER_MIN || answer->result > 1)
		return false;
	if (answer->result < 0)
		return size == (ssize_t)ANSWER_MIN;
	return runtime_text_parse(answer->text, (size_t)size - ANSWER_MIN, &parts);
}

int name_reader_ask(struct sandbox *reader, const struct named_code *code, char *ret_text)
{
	struct question question;
	struct answer answer;
	ssize_t size;
	int err;

	memset(&question, 0, sizeof(question)); /* gaps, too: they are sent */
	question.code = *code;
	question.code.compiled = NULL;
	question.is_compiled = code->compiled;
	if (code->compiled)
		question.compiled = *code->compiled;
	if (send(reader->socket, &question, sizeof(question), MSG_NOSIGNAL) !=
	    (ssize_t)sizeof(question))
		return -EPIPE;
	err = wait_for_answer(reader);
	if (err)
		return err;
	size = recv(reader->socket, &answer, sizeof(answer), MSG_DONTWAIT | MSG_TRUNC);
	if (size > (ssize_t)sizeof(answer) || !makes_sense(&answer, size))
		return -EPIPE;
	if (answer.result < 0)
		return answer.result == -ESTALE || answer.result == -ENOENT ? answer.result
									    : -EINVAL;
	memcpy(ret_text, answer.text, (size_t)size - ANSWER_MIN);
	return answer.result;
}
