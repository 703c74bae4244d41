/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that is done in a process of its own, because what it reads comes from strangers: files of
 * programs, memory of processes. If that goes wrong, the process ends, and nothing else.
 *
 * From its start it has limits: on processor time (SANDBOX_CPU_SECONDS), on memory
 * (SANDBOX_DATA_MAX of its own, SANDBOX_SPACE_MAX of addresses), on what it may leave behind
 * (nothing). It still has our rights then, to open what it will read. sandbox_confine() takes these
 * away: no capabilities, and no system calls but those that read from open descriptors, get memory
 * and send the answer. malloc(3) makes no others from then on, in whatever thread it was started.
 */
#ifndef CTXPROP_SANDBOX_H
#define CTXPROP_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

#include "base/child.h"

#define SANDBOX_CPU_SECONDS 2
#define SANDBOX_SECONDS     30   /* by the clock, however busy the machine is */
#define SANDBOX_STILL_MS    3000 /* that it may do nothing, as who waits for a file's bytes */
#define SANDBOX_KILL_MS     1000
#define SANDBOX_DATA_MAX    (128UL << 20)
#define SANDBOX_SPACE_MAX   (4UL << 30)

#define SANDBOX_FILE 4

/*
 * Is this built with AddressSanitizer, which needs more than these limits and system calls allow?
 */
#if defined(__SANITIZE_ADDRESS__)
#define SANDBOX_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANDBOX_IS_SANITIZED 1
#endif
#endif
#ifndef SANDBOX_IS_SANITIZED
#define SANDBOX_IS_SANITIZED 0
#endif

/* Limits on what the process may use, from its start. */
struct sandbox_limits {
	unsigned int cpu_seconds;
	unsigned long data_bytes; /* with what we have when it is started */
};

struct sandbox {
	pid_t pid; /* 0: none */
	int pidfd; /* readable once the process has ended */
	int socket;
	__u64 end_ns;    /* CLOCK_MONOTONIC: when its time is over */
	__u64 killed_ns; /* when it was killed; 0: it was not */
	struct child_progress progress;
};

#define SANDBOX_NONE ((struct sandbox){.pidfd = -1, .socket = -1})

enum sandbox_end {
	SANDBOX_RUNS,     /* not yet */
	SANDBOX_DONE,     /* it has sent its result */
	SANDBOX_GAVE_UP,  /* it said that it has failed */
	SANDBOX_TOO_LONG, /* its processor time was used up */
	SANDBOX_CRASHED,
	SANDBOX_FORBIDDEN, /* it made a system call that sandbox_confine() has taken away */
	/*
	 * It took too long by the clock, waited for data that did not come, or ran out of memory.
	 */
	SANDBOX_KILLED,
};

/*
 * Start a process that runs `work`, which returns 0, or anything else if it has given up. It has no
 * descriptors but `socket` (unix(7), SOCK_SEQPACKET: our end is ret_sandbox->socket), and heeds no
 * signal that asks it to end: it ends with us. 0; -EAGAIN, also when CHILD_LEFT_MAX that cannot be
 * killed are left behind (base/child.h); or -errno. `ret_sandbox` is to be closed.
 */
int sandbox_start(int (*work)(int socket, void *data), void *data, struct sandbox *ret_sandbox);

/* The same with other limits than SANDBOX_CPU_SECONDS and SANDBOX_DATA_MAX. */
int sandbox_start_within(const struct sandbox_limits *limits, int (*work)(int socket, void *data),
			 void *data, struct sandbox *ret_sandbox);

/* The same with the usual limits, and with one more descriptor: SANDBOX_FILE is a copy of `file`.
 */
int sandbox_start_with(int file, int (*work)(int socket, void *data), void *data,
		       struct sandbox *ret_sandbox);

/* In that process: give up all rights, for good. 0, or -errno: nothing may be read then. */
int sandbox_confine(void);

/*
 * Has it ended? Does not wait. Kills it when its time is over, or calls of this function have seen
 * it do nothing for SANDBOX_STILL_MS; if it cannot be killed it is left behind. What it has sent
 * can be read as soon as the result is not SANDBOX_RUNS.
 */
enum sandbox_end sandbox_look(struct sandbox *sandbox);

/* How often sandbox_look() is to be called. */
#define SANDBOX_LOOK_MS 250

/* The same, but waits: SANDBOX_SECONDS and SANDBOX_KILL_MS at most. Never SANDBOX_RUNS. */
enum sandbox_end sandbox_wait(struct sandbox *sandbox);

/* The same, but waits for `most_ms` at most: SANDBOX_RUNS if it still runs then. */
enum sandbox_end sandbox_wait_ms(struct sandbox *sandbox, int most_ms);

/*
 * Kill it if it runs, and wait until it is gone, but not longer than SANDBOX_KILL_MS: a process
 * that waits for a file system cannot be killed, and is left behind.
 */
void sandbox_close(struct sandbox *sandbox);

#define _cleanup_sandbox_ __attribute__((cleanup(sandbox_close)))

#endif
