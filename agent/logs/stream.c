// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "logs/stream.h"

/* For the record of a piece that is there already: a thread of the program is about to write it. */
#define TRIES   4
#define WAIT_MS 1

/* The reader's end gets a name: the agent tells by it which end is the server's. */
static int name_end(int fd)
{
	const struct sockaddr_un any = {.sun_family = AF_UNIX};

	return bind(fd, (const struct sockaddr *)&any, sizeof(any.sun_family)) ? -errno : 0;
}

int stream_open(struct stream *ret_stream, struct watch *watch, __u32 number, int *ret_watch_err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	ret_stream->fd = ends[0];
	ret_stream->program_fd = ends[1];
	*ret_watch_err = watch ? name_end(ends[0]) : 0;
	if (watch && !*ret_watch_err)
		*ret_watch_err = watch_socket(watch, ends[0], number);
	ret_stream->is_watched = watch && !*ret_watch_err;
	return 0;
}

static void end(struct stream *stream)
{
	cleanup_close(&stream->fd);
	stream->fd = -1;
}

void stream_close(struct stream *stream)
{
	end(stream);
	cleanup_close(&stream->program_fd);
	stream->program_fd = -1;
}

/* Returns whether the queue was read to its end. */
static bool fill(struct stream *stream)
{
	while (stream->fd >= 0 && stream->size < STREAM_BYTES) {
		ssize_t n = recv(stream->fd, stream->bytes + stream->size,
				 STREAM_BYTES - stream->size, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return true;
		if (n <= 0) {
			end(stream);
			return true;
		}
		stream->size += (size_t)n;
		if (stream->is_watched)
			writers_read(&stream->writers, (size_t)n);
	}
	return stream->fd < 0;
}

/* Read, until it is certain who has written it. Returns whether it is. */
static bool fill_and_settle(struct stream *stream, struct watch *watch, bool *ret_empty)
{
	for (int tries = 0; tries < TRIES; tries++) {
		*ret_empty = fill(stream);
		if (!stream->is_watched || !*ret_empty)
			return false;
		watch_read(watch);
		if (writers_settle(&stream->writers))
			return true;
		poll(&(struct pollfd){.fd = watch_fd(watch), .events = POLLIN}, 1, WAIT_MS);
	}
	return false;
}

static void pass(struct stream *stream, const char *bytes, size_t size,
		 const struct line_writer *writer, struct buffer *out)
{
	line_pass(&stream->line, bytes, size, writer, out, &stream->counts);
}

/* Bytes that were passed on before they were settled come first among the pieces. */
static void pass_settled(struct stream *stream, struct buffer *out)
{
	size_t gone = stream->writers.bytes - stream->size, at = 0;

	for (size_t i = 0; i < stream->writers.count; i++) {
		const struct line_record *record = &stream->writers.record[i];
		size_t skip = gone < record->size ? gone : record->size;
		struct line_writer writer = {
		    .is_certain = true, .works_on = record->is_known ? &record->works_on : NULL};

		gone -= skip;
		pass(stream, stream->bytes + at, record->size - skip, &writer, out);
		at += record->size - skip;
	}
	writers_forget(&stream->writers);
}

bool stream_pass(struct stream *stream, struct watch *watch, struct buffer *out)
{
	const struct line_writer nobody = {};
	bool empty = false, settled;

	stream->size = 0;
	settled = fill_and_settle(stream, watch, &empty);
	stream->bytes[stream->size] = '\0';
	if (settled)
		pass_settled(stream, out);
	else
		pass(stream, stream->bytes, stream->size, &nobody, out);
	return !empty;
}

void stream_rest(struct stream *stream)
{
	writers_forget(&stream->writers);
}
