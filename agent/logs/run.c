// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "logs/program.h"
#include "logs/run.h"
#include "logs/stream.h"

/* A pipe that is writable accepts at least so many bytes without blocking. */
#define STEP PIPE_BUF

static int write_some(int fd, const char **bytes, size_t *size)
{
	ssize_t n = write(fd, *bytes, *size < STEP ? *size : STEP);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	*bytes += n;
	*size -= (size_t)n;
	return 0;
}

/*
 * Write all bytes, however long it takes. Meanwhile `news` is called whenever `news_fd` is
 * readable, so that signals are handled even if nobody reads the output. 0 or -errno.
 */
static int outlet_write(int fd, const char *bytes, size_t size, int news_fd,
			void (*news)(void *data), void *data)
{
	int err = 0;

	while (size && !err) {
		struct pollfd fds[] = {{.fd = fd, .events = POLLOUT},
				       {.fd = news_fd, .events = POLLIN}};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			news(data);
		if (fds[0].revents)
			err = write_some(fd, &bytes, &size);
	}
	return err;
}

#define STREAMS 2 /* output and errors */

struct run {
	struct watch *watch; /* NULL: there is none */
	struct program program;
	struct stream stream[STREAMS];
	size_t streams;
	struct buffer out;
};

static void take(const struct line_record *record, void *data)
{
	struct run *run = data;

	if (record->stream < run->streams)
		writers_add(&run->stream[record->stream].writers, record);
}

/* Do both outputs go to one file? */
static bool is_one_file(void)
{
	struct stat a, b;

	return !fstat(STDOUT_FILENO, &a) && !fstat(STDERR_FILENO, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino && a.st_rdev == b.st_rdev;
}

static int open_streams(struct run *run, char *ret_why, size_t size)
{
	size_t streams = is_one_file() ? 1 : STREAMS;
	int err = 0, watch_err = 0;

	for (size_t i = 0; !err && i < streams; i++, run->streams = i) {
		err = stream_open(&run->stream[i], run->watch, (__u32)i, &watch_err);
		if (watch_err)
			snprintf(ret_why, size, "%s", strerror(-watch_err));
	}
	return err;
}

int run_open(struct run **ret_run, char *ret_why, size_t size)
{
	struct run *run = calloc(1, sizeof(*run));
	int err;

	if (!run)
		return -ENOMEM;
	*ret_why = '\0';
	run->program.signal_fd = -1;
	for (size_t i = 0; i < STREAMS; i++)
		run->stream[i].fd = run->stream[i].program_fd = -1;
	if (watch_open(take, run, &run->watch, ret_why, size))
		run->watch = NULL;
	err = open_streams(run, ret_why, size);
	if (err)
		run_close(run);
	else
		*ret_run = run;
	return err;
}

void run_close(struct run *run)
{
	for (size_t i = 0; i < STREAMS; i++)
		stream_close(&run->stream[i]);
	cleanup_close(&run->program.signal_fd);
	watch_close(run->watch);
	buffer_free(&run->out);
	free(run);
}

static int output_of(const struct run *run, const struct stream *stream)
{
	return stream == &run->stream[0] ? STDOUT_FILENO : STDERR_FILENO;
}

/* Where there is no memory for ids the bytes are still at hand. */
static int write_out(struct run *run, const struct stream *stream)
{
	const char *bytes = run->out.failed ? stream->bytes : run->out.text;
	size_t size = run->out.failed ? stream->size : run->out.size;

	return outlet_write(output_of(run, stream), bytes, size, run->program.signal_fd,
			    program_news, &run->program);
}

/* Returns whether there was anything. Nobody reads the output: the program learns of it. */
static bool pass_on(struct run *run, struct stream *stream)
{
	bool some;

	run->out.size = 0;
	some = stream_pass(stream, run->watch, &run->out);
	if (!write_out(run, stream))
		return some;
	stream_refuse(stream);
	return false;
}

/* Wait for signals and output, and pass that on. 0 or -errno. */
static int take_turn(struct run *run)
{
	struct pollfd fds[STREAMS + 1] = {};

	for (size_t i = 0; i < run->streams; i++)
		fds[i] = (struct pollfd){.fd = run->stream[i].fd, .events = POLLIN};
	fds[run->streams] = (struct pollfd){.fd = run->program.signal_fd, .events = POLLIN};
	if (poll(fds, run->streams + 1, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	for (size_t i = 0; i < run->streams; i++)
		if (fds[i].revents)
			pass_on(run, &run->stream[i]);
	if (fds[run->streams].revents)
		program_news(&run->program);
	return 0;
}

/* What the program has left in the sockets. */
static void pass_rest(struct run *run)
{
	for (size_t i = 0; i < run->streams; i++)
		while (run->stream[i].fd >= 0 && pass_on(run, &run->stream[i]))
			;
}

int run_program(struct run *run, const char *const *argv)
{
	int errors_fd = run->stream[run->streams - 1].program_fd, err;

	err = program_start(&run->program, argv, run->stream[0].program_fd, errors_fd);
	while (!err && !run->program.ended)
		err = take_turn(run);
	if (!err)
		pass_rest(run);
	return err;
}

void run_counts(const struct run *run, struct line_counts *ret_counts)
{
	*ret_counts = (struct line_counts){};
	for (size_t i = 0; i < run->streams; i++)
		for (size_t j = 0; j < LINE_RESULTS; j++)
			ret_counts->lines[j] += run->stream[i].counts.lines[j];
}

int run_end_alike(const struct run *run)
{
	return program_end_alike(&run->program);
}
