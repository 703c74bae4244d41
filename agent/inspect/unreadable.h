/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes whose memory or files could not be read in time: each is left alone for a while, longer
 * each time. If a user other than root has several of them, all of his processes are left alone.
 * The time spent waiting in vain has a limit over all of them.
 */
#ifndef CTXPROP_UNREADABLE_H
#define CTXPROP_UNREADABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define UNREADABLE_MAX       256  /* remembered; the one whose pause ends first makes room */
#define UNREADABLE_PAUSE_S   2    /* at first: a busy disk may have been why */
#define UNREADABLE_DOUBLED   11   /* how often the pause is doubled at most */
#define UNREADABLE_OF_USER   3    /* from this many on, all processes of the user are left alone */
#define UNREADABLE_CREDIT_MS 3000 /* the most that may be spent in vain at once */
#define UNREADABLE_PER_CENT  5    /* and this share of the time in the long run */

/* Identifies a process even when its number is given to another one later. */
struct unreadable_process {
	__u32 tgid, uid; /* in the initial user namespace */
	__u64 started;   /* clock ticks since the system started */
};

struct unreadable_mark {
	struct unreadable_process process;
	__u32 times;  /* 0: free */
	__u64 end_ns; /* of the pause */
};

/* All zero: there are none. Times are of CLOCK_MONOTONIC. */
struct unreadable {
	struct unreadable_mark mark[UNREADABLE_MAX];
	__u64 lost_ns;    /* spent in vain, and not yet made up for by time that has passed */
	__u64 counted_ns; /* when that was counted */
};

/* What /proc tells of a process that is there. 0 or -errno. */
int unreadable_identify(__u32 tgid, struct unreadable_process *ret_process);

/* Is it to be left alone now? */
bool unreadable_is(const struct unreadable *unreadable, const struct unreadable_process *process,
		   __u64 now_ns);

/* Note that waiting for this process took so long in vain. */
void unreadable_mark(struct unreadable *unreadable, const struct unreadable_process *process,
		     __u64 waited_ns, __u64 now_ns);

#endif
