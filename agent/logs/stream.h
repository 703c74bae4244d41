/* SPDX-License-Identifier: Apache-2.0 */
/* One stream of a program's output: read from a socket, and passed on with ids. */
#ifndef CTXPROP_LOGS_STREAM_H
#define CTXPROP_LOGS_STREAM_H

#include <stdbool.h>

#include "logs/line.h"
#include "logs/watch.h"
#include "logs/writers.h"

/* That are read at once: all that may wait. Half of it is asked for, the kernel takes it twice. */
#define STREAM_BYTES 262144

struct stream {
	int fd;          /* what the program writes can be read here, without waiting; -1: ended */
	int program_fd;  /* for the program, which has it twice; -1: ended */
	bool is_watched; /* it is told who writes */
	__u64 doubt_ns;  /* CLOCK_MONOTONIC: until then records of what was read before may come */
	struct writers writers;
	struct line line;
	struct line_counts counts;
	char bytes[STREAM_BYTES + 1]; /* NUL behind them */
	size_t size;
};

/*
 * Make the two ends of a stream. `watch`: may be NULL; `number`: of the records about it, 0 or
 * more. Returns 0 or -errno; that it is not watched is no error: `ret_watch_err` says why.
 */
int stream_open(struct stream *ret_stream, struct watch *watch, __u32 number, int *ret_watch_err);
void stream_close(struct stream *stream);

/* Nobody reads what is passed on: who goes on writing gets EPIPE and SIGPIPE, as from a pipe. */
void stream_refuse(struct stream *stream);

/*
 * Read what there is, and append it to `out` with ids where they are certain. Waits for a thread
 * that is still in its write(2) if need be, 20 ms at most. Returns whether there was anything.
 */
bool stream_pass(struct stream *stream, struct watch *watch, struct buffer *out);

#endif
