/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Tables belong to the whole node: what one process fills must leave room for all others. So each
 * entry is paid for by a process, which can pay for so many and no more.
 */
#ifndef CTXPROP_ENGINE_SHARE_H
#define CTXPROP_ENGINE_SHARE_H

#include <linux/types.h>

/*
 * Of the processes that have requests, so many may be of one cgroup: a quarter of the
 * table. Where that was halved (struct node), so is this. The
 * root of all cgroups is none in this sense: where it has processes nobody is kept apart.
 */
#define CGROUP_PROCESSES 2048
#define CGROUP_ROOT      1ULL /* its id */

/* What a process has of a table, or a cgroup. */
struct share {
	__u32 taken;   /* entries that it pays for, changed atomically */
	__u32 refused; /* 1: there would have been more */
};

/* Tables of which processes have shares. */
enum share_table {
	SHARE_WORKERS,
	SHARE_PROCESSES, /* these have one entry for each process */
	SHARE_RUNTIMES,
	SHARE_LISTENERS,
	SHARE_CGROUP, /* of the table of processes, that of the process's cgroup */
	SHARE_TABLES
};

/* Map `shares_reached`: who has reached which; process 0: the table was full. */
struct share_reached {
	__u32 tgid;
	__u32 table; /* enum share_table */
};

/* In an entry: who pays for it. */
struct share_taken {
	__u32 tgid;   /* 0: nobody */
	__u32 number; /* struct process.number of it */
};

/* One entry more; 0: that would be more than `most`. */
static __always_inline int share_take(struct share *share, __u32 most)
{
	if (__sync_fetch_and_add(&share->taken, 1) < most)
		return 1;
	__sync_fetch_and_sub(&share->taken, 1);
	share->refused = 1;
	return 0;
}

/* One entry is gone. */
static __always_inline void share_return(struct share *share)
{
	__sync_fetch_and_sub(&share->taken, 1);
}

#endif
