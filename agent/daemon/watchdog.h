/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches the daemon's main loop: while a turn takes long, nothing else that the daemon does goes
 * on. Long turns are counted and logged, with what took the time; one that does not end is told of
 * while it lasts.
 */
#ifndef CTXPROP_WATCHDOG_H
#define CTXPROP_WATCHDOG_H

#include <stddef.h>
#include <linux/types.h>

#define WATCHDOG_LIMIT_MS 200
/* A loop that is so late is no longer well. */
#define WATCHDOG_SICK_SECONDS 30

struct watchdog {
	__u64 turn_ns, mark_ns; /* when the turn began, and what is done now */
	__u64 waited_ns;        /* for a processor, when the turn began */
	__u64 longest_ns;       /* of this turn's works */
	const char *longest;    /* its name */
	unsigned long slow;     /* turns above the limit */
	unsigned long unsaid;   /* of them, since the last line */
	__u64 worst_ns;         /* the longest turn of all */
	__u64 next_line_ns;
};

/*
 * By the thread of the loop: have turns watched that do not end; until the process ends SIGALRM is
 * used for that. Without it, which is -errno, the others are.
 */
int watchdog_start(void);

/* A turn begins, and with it a work of this name; names live as long as the program. */
void watchdog_begin(struct watchdog *watchdog, const char *name);

/* The work that went on has ended, and the next one begins. */
void watchdog_mark(struct watchdog *watchdog, const char *name);

/* The turn has ended; the next one begins in `timeout_ms` at the latest, or (-1) some time. */
void watchdog_end(struct watchdog *watchdog, int timeout_ms);

/*
 * Does the loop turn, as of `now_ns` (CLOCK_MONOTONIC)? May be asked by any thread. Returns 0, or
 * -ETIMEDOUT after one sentence about it was written to `ret_why`: a turn lasts longer than
 * WATCHDOG_SICK_SECONDS, or has not begun so long after it was due.
 */
int watchdog_health_at(__u64 now_ns, char *ret_why, size_t size);

/* The same as of now. */
int watchdog_health(char *ret_why, size_t size);

/*
 * The longest turn so far, but for the time in which others had the processor. May be asked by any
 * thread.
 */
__u64 watchdog_longest_ns(void);

#endif
