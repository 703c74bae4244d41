// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "profile/names/name_reader.h"
#include "profile/names/name_readers.h"

#define PROCESSES                                                                                  \
	256 /* processes that are remembered; the one that was used longest ago makes room */

struct asked {
	__u32 tgid;   /* 0: free */
	__u32 failed; /* times that its reader did not answer */
	__u64 life;
	__u64 asked_ns, pause_end_ns; /* CLOCK_MONOTONIC */
	struct sandbox reader;
};

struct name_readers {
	struct asked process[PROCESSES];
	size_t count; /* of readers that run */
};

struct name_readers *name_readers_new(void)
{
	struct name_readers *readers = calloc(1, sizeof(*readers));

	for (size_t i = 0; readers && i < PROCESSES; i++)
		readers->process[i].reader = SANDBOX_NONE;
	return readers;
}

static void end_reader(struct name_readers *readers, struct asked *process)
{
	if (!process->reader.pid)
		return;
	sandbox_close(&process->reader);
	readers->count--;
}

void name_readers_free(struct name_readers *readers)
{
	for (size_t i = 0; readers && i < PROCESSES; i++)
		end_reader(readers, &readers->process[i]);
	free(readers);
}

/* The process of a function, or in its place a new one. */
static struct asked *find(struct name_readers *readers, const struct named_code *code)
{
	struct asked *oldest = &readers->process[0];

	for (size_t i = 0; i < PROCESSES; i++) {
		struct asked *process = &readers->process[i];

		if (process->tgid == code->tgid && process->life == code->life)
			return process;
		if (process->asked_ns < oldest->asked_ns)
			oldest = process;
	}
	end_reader(readers, oldest);
	*oldest = (struct asked){.tgid = code->tgid, .life = code->life, .reader = SANDBOX_NONE};
	return oldest;
}

static void make_room(struct name_readers *readers)
{
	struct asked *oldest = NULL;

	for (size_t i = 0; readers->count == NAME_READERS_MAX && i < PROCESSES; i++) {
		struct asked *process = &readers->process[i];

		if (process->reader.pid && (!oldest || process->asked_ns < oldest->asked_ns))
			oldest = process;
	}
	if (oldest)
		end_reader(readers, oldest);
}

/* 0, or -errno: there is none. */
static int have_reader(struct name_readers *readers, struct asked *process)
{
	int err;

	if (process->reader.pid && name_reader_has_time(&process->reader))
		return 0;
	end_reader(readers, process);
	make_room(readers);
	err = name_reader_start(process->tgid, &process->reader);
	readers->count += !err;
	return err;
}

static void begin_pause(struct name_readers *readers, struct asked *process)
{
	end_reader(readers, process);
	process->pause_end_ns =
	    clock_now_ns() + ((__u64)NAME_READERS_PAUSE_S << process->failed) * NS_PER_SECOND;
	if (process->failed < NAME_READERS_DOUBLED)
		process->failed++;
}

int name_readers_ask(struct name_readers *readers, const struct named_code *code, char *ret_text)
{
	struct asked *process = find(readers, code);
	int result;

	process->asked_ns = clock_now_ns();
	if (process->asked_ns < process->pause_end_ns || have_reader(readers, process))
		return -EAGAIN;
	result = name_reader_ask(&process->reader, code, ret_text);
	if (result == -EPIPE || result == -ETIMEDOUT)
		begin_pause(readers, process);
	return result;
}
