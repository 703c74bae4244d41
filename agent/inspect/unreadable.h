/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes whose memory or files did not come when they were read: each is left alone for a while,
 * longer each time. A user with several of them is left alone as a whole, but for root; and all
 * that is waited for in vain has a limit, whoever causes it.
 */
#ifndef CTXPROP_UNREADABLE_H
#define CTXPROP_UNREADABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define UNREADABLE_MAX       256 /* that are remembered; the one whose pause ends first is forgotten */
#define UNREADABLE_PAUSE_S   60
#define UNREADABLE_DOUBLED   6    /* so often the pause is doubled */
#define UNREADABLE_OF_USER   3    /* so many make a user left alone */
#define UNREADABLE_CREDIT_MS 3000 /* that may be waited in vain at once */
#define UNREADABLE_PER_CENT  5    /* and of the time on the whole */

/* Which process: its number may be another one's later. */
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
	__u64 lost_ns;    /* that was waited in vain, and is not made up for yet */
	__u64 counted_ns; /* when that was counted */
};

/* What /proc tells of a process that is there. 0 or -errno. */
int unreadable_identify(__u32 tgid, struct unreadable_process *ret_process);

/* Is it to be left alone now? */
bool unreadable_is(const struct unreadable *unreadable, const struct unreadable_process *process,
		   __u64 now_ns);

/* It was waited for so long in vain. */
void unreadable_mark(struct unreadable *unreadable, const struct unreadable_process *process,
		     __u64 waited_ns, __u64 now_ns);

#endif
