// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <linux/sockios.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "logs/stream.h"

#define NS_PER_MS 1000000ULL

/* For a writer who is to learn that nobody reads, and how long that is waited for. */
#define ROOM_AT_END     (16 << 20)
#define WRITER_WAKES_MS 100

/*
 * For the record of a piece that is there already: its writer may have lost its CPU in between. Not
 * before it comes the piece is read, so that it still finds it.
 */
#define TRIES   20
#define WAIT_MS 1

/* When records are believed again, after some that were not in order, or did not come in time. */
#define DOUBT_RACED_NS   (5 * NS_PER_MS)
#define DOUBT_MISSING_NS (100 * NS_PER_MS)

/* The reader's end gets a name: the agent tells by it which end is the server's. */
static int name_end(int fd)
{
	const struct sockaddr_un any = {.sun_family = AF_UNIX};

	return bind(fd, (const struct sockaddr *)&any, sizeof(any.sun_family)) ? -errno : 0;
}

int stream_open(struct stream *ret_stream, struct watch *watch, __u32 number, int *ret_watch_err)
{
	const int room = STREAM_BYTES / 2;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	ret_stream->fd = ends[0];
	ret_stream->program_fd = ends[1];
	*ret_watch_err = watch ? name_end(ends[0]) : 0;
	if (watch && !*ret_watch_err)
		*ret_watch_err = watch_socket(watch, ends[0], number);
	ret_stream->is_watched = watch && !*ret_watch_err;
	return 0;
}

/* Bytes that can be read. */
static size_t queued(const struct stream *stream)
{
	int bytes = 0;

	return ioctl(stream->fd, SIOCINQ, &bytes) || bytes < 0 ? 0 : (size_t)bytes;
}

void stream_close(struct stream *stream)
{
	cleanup_close(&stream->fd);
	stream->fd = -1;
	cleanup_close(&stream->program_fd);
	stream->program_fd = -1;
}

static void drain(const struct stream *stream, size_t bytes)
{
	char rest[4096];
	ssize_t n;

	while (bytes && (n = recv(stream->fd, rest, sizeof(rest), MSG_DONTWAIT)) > 0)
		bytes -= (size_t)n < bytes ? (size_t)n : bytes;
}

/*
 * Who waits for room gets EPIPE, but no SIGPIPE when the socket is shut: he is given room, and is
 * seen to use it.
 */
static void let_write(const struct stream *stream)
{
	struct pollfd written = {.fd = stream->fd, .events = POLLIN};
	const int room = ROOM_AT_END;

	if (setsockopt(stream->program_fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		setsockopt(stream->program_fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	drain(stream, queued(stream));
	poll(&written, 1, WRITER_WAKES_MS);
}

/* What is left in a socket that is closed would make it ECONNRESET, without a signal. */
void stream_refuse(struct stream *stream)
{
	let_write(stream);
	shutdown(stream->fd, SHUT_RD);
	drain(stream, SIZE_MAX);
	stream_close(stream);
}

/* Read so many bytes, or what there is. */
static void fill(struct stream *stream, size_t bytes)
{
	while (stream->size < bytes) {
		ssize_t n = recv(stream->fd, stream->bytes + stream->size, bytes - stream->size,
				 MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			stream_close(stream);
			return;
		}
		stream->size += (size_t)n;
	}
}

/*
 * Wait until all is told of what is queued. Returns the verdict, and of how many bytes it is.
 */
static enum writers_verdict wait_for_writers(struct stream *stream, struct watch *watch,
					     size_t *ret_bytes)
{
	enum writers_verdict verdict = WRITERS_MISSING;

	for (int tries = 0; tries < TRIES && verdict == WRITERS_MISSING; tries++) {
		if (tries)
			poll(&(struct pollfd){.fd = watch_fd(watch), .events = POLLIN}, 1, WAIT_MS);
		*ret_bytes = queued(stream);
		watch_read(watch);
		verdict = writers_settle(&stream->writers, *ret_bytes);
		if (*ret_bytes > STREAM_BYTES)
			return WRITERS_MISSING;
	}
	return verdict;
}

/* Returns whether what is told now is of what was read now. */
static bool is_believed(struct stream *stream, enum writers_verdict verdict)
{
	__u64 now_ns = clock_now_ns(), doubt_ns;

	if (verdict == WRITERS_CERTAIN)
		return now_ns >= stream->doubt_ns;
	doubt_ns = now_ns + (verdict == WRITERS_RACED ? DOUBT_RACED_NS : DOUBT_MISSING_NS);
	if (doubt_ns > stream->doubt_ns)
		stream->doubt_ns = doubt_ns;
	return false;
}

static void pass(struct stream *stream, const char *bytes, size_t size,
		 const struct line_writer *writer, struct buffer *out)
{
	line_pass(&stream->line, bytes, size, writer, out, &stream->counts);
}

static void pass_pieces(struct stream *stream, struct buffer *out)
{
	size_t at = 0;

	for (size_t i = 0; i < stream->writers.count; i++) {
		const struct line_record *record = &stream->writers.record[i];
		struct line_writer writer = {
		    .is_certain = true, .works_on = record->is_known ? &record->works_on : NULL};

		pass(stream, stream->bytes + at, record->size, &writer, out);
		at += record->size;
	}
}

static void pass_watched(struct stream *stream, struct watch *watch, struct buffer *out)
{
	const struct line_writer nobody = {};
	size_t bytes = 0;
	bool believed = is_believed(stream, wait_for_writers(stream, watch, &bytes));

	/* Of an empty queue it is the end that can be read. */
	fill(stream, believed && bytes ? bytes : STREAM_BYTES);
	stream->bytes[stream->size] = '\0';
	if (believed && stream->size == bytes)
		pass_pieces(stream, out);
	else
		pass(stream, stream->bytes, stream->size, &nobody, out);
	writers_forget(&stream->writers);
}

bool stream_pass(struct stream *stream, struct watch *watch, struct buffer *out)
{
	const struct line_writer nobody = {};

	stream->size = 0;
	if (stream->is_watched) {
		pass_watched(stream, watch, out);
	} else {
		fill(stream, STREAM_BYTES);
		stream->bytes[stream->size] = '\0';
		pass(stream, stream->bytes, stream->size, &nobody, out);
	}
	return stream->size;
}
