/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children that may not end. Who waits for a file system whose server does not answer (FUSE, NFS)
 * cannot always be killed: such a child is left behind, and waited for whenever another one is.
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
 * For how long a child of ours has neither run nor waited for a processor, in nanoseconds, as far
 * as is known by this call and those before; 0: it has just done so, or there were too few calls to
 * tell: whoever looks may have waited for a processor, too.
 */
__u64 child_still_ns(struct child_progress *progress, pid_t pid);

/*
 * Kill a child, and wait for its end, which `pidfd` is readable at (-1: it is not waited for),
 * `most_ms` at most. One that has not ended then is left behind. To be called by any thread.
 */
void child_kill(pid_t pid, int pidfd, int most_ms);

/* How many are left behind, and have not ended since. To be called by any thread. */
unsigned int child_left(void);

#endif
