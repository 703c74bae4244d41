/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children that may never end: a process that waits for a file system whose server does not answer
 * (FUSE, NFS) cannot always be killed. Such a child is left behind, and reaped later, when another
 * child is.
 */
#ifndef CTXPROP_CHILD_H
#define CTXPROP_CHILD_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

#define CHILD_LEFT_MAX 64 /* so many may be left behind */

/* All zero: nothing was seen of the child yet. */
struct child_progress {
	__u64 seen, since_ns;
	unsigned int looks; /* that have found the same */
};

/*
 * Nanoseconds for which a child of ours has neither run nor waited for a processor, as far as this
 * call and those before can tell. 0: it has just done so, or there were too few calls (the caller
 * itself may have waited for a processor).
 */
__u64 child_still_ns(struct child_progress *progress, pid_t pid);

/*
 * Kill a child and wait, `most_ms` at most, until it has ended, which makes `pidfd` readable (-1:
 * do not wait). A child that has not ended then is left behind. May be called by any thread.
 */
void child_kill(pid_t pid, int pidfd, int most_ms);

/* How many children are left behind now. May be called by any thread. */
unsigned int child_left(void);

#endif
