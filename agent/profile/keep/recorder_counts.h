/* SPDX-License-Identifier: Apache-2.0 */
/* What recorders have done since the daemon began, in memory that it shares with them. */
#ifndef CTXPROP_PROFILE_KEEP_RECORDER_COUNTS_H
#define CTXPROP_PROFILE_KEEP_RECORDER_COUNTS_H

#include <stdatomic.h>
#include <linux/types.h>

/* Those of samples are counted when their window ends. */
struct recorder_counts {
	_Atomic __u64 starts;
	_Atomic __u64 samples, of_requests; /* on the CPU; of them with a context */
	_Atomic __u64 incomplete;           /* on the CPU, without their whole stack */
	_Atomic __u64 waits;                /* with a context */
	_Atomic __u64 lost;                 /* the ring was full */
	_Atomic __u64 left_out; /* samples and waits that were not kept, or are unclear */
	_Atomic __u64
	    windows; /* that were written, each counted once even if it was written twice */
	_Atomic __u64 removed;    /* removed early, for newer ones: the device was full */
	_Atomic __u64 failed;     /* errors, as they are logged */
	_Atomic __u64 renewed;    /* its tables were full, or out of date */
	_Atomic __u64 unreadable; /* processes whose memory or files did not come, each time */
	_Atomic __u64 turned_ns;  /* when its last turn began (CLOCK_MONOTONIC); 0: none has */
};

#endif
