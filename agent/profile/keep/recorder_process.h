/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the process that records a continuous profile (recorder_main.h) running: if it dies it is
 * started again, after a growing pause; if its loop hangs it is killed. Everything is logged. No
 * function waits for it without a limit.
 */
#ifndef CTXPROP_PROFILE_KEEP_RECORDER_PROCESS_H
#define CTXPROP_PROFILE_KEEP_RECORDER_PROCESS_H

#include <sys/types.h>
#include <linux/types.h>

#include "base/child.h"
#include "profile/keep/recorder_counts.h"

struct recorder_process {
	const char *words, *store;      /* of --profile, and of the file of spans */
	int level;                      /* of its log */
	struct recorder_counts *counts; /* NULL: nothing is recorded */
	int counts_fd;
	pid_t pid;        /* 0: it does not run */
	int pidfd;        /* readable when it has ended */
	int alive_fd;     /* it ends when this is closed */
	__u64 started_ns; /* CLOCK_MONOTONIC */
	__u64 due_ns;     /* when it is to be started; 0: never */
	__u64 turned_ns;  /* when it began the turn that was seen last */
	__u64 seen_ns;    /* and when that was seen first */
	struct child_progress progress;
	unsigned int pause_s;
};

#define RECORDER_PROCESS_NONE                                                                      \
	((struct recorder_process){.counts_fd = -1, .pidfd = -1, .alive_fd = -1})

/*
 * Does a recorder hang whose last turn began at `turned_ns` (0: none has), `since_turn_ns` ago?
 * `still_ns`: for how long it has neither run nor waited for a processor.
 */
bool recorder_process_hangs(__u64 turned_ns, __u64 since_turn_ns, __u64 still_ns);

/* The pause after a recorder has died: by how long it has lived, and the pause before it. */
unsigned int recorder_process_pause_s(unsigned int before_s, __u64 lived_s);

/*
 * Prepare a recorder with these options, which must stay valid, and make its counts
 * (recorder_main.h).
 */
void recorder_process_prepare(struct recorder_process *recorder, const char *words,
			      const char *store, int level);

/* Start it, if it is wanted. */
void recorder_process_begin(struct recorder_process *recorder);

/* Readable when there is news for recorder_process_look(); -1: there will be none. */
int recorder_process_fd(const struct recorder_process *recorder);
void recorder_process_look(struct recorder_process *recorder);

/*
 * Start it again when that is due, and kill it if it hangs. Returns in how many milliseconds this
 * is to be called again; -1: that need not be.
 */
int recorder_process_do(struct recorder_process *recorder);

/* Ask it to take no more samples; spans that are stored from now on may still be of its requests.
 */
void recorder_process_stop(struct recorder_process *recorder);

/* All spans are stored: let it write what it has, and wait for its end. */
void recorder_process_end(struct recorder_process *recorder);

#endif
