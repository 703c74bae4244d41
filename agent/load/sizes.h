/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sizes of tables. With their usual sizes all tables take at most 128 MiB when they are full,
 * and pinned ones keep their size. Where memory is limited, the sizes of all of them are halved
 * until together they take no more than half of the memory.
 */
#ifndef CTXPROP_SIZES_H
#define CTXPROP_SIZES_H

#include <bpf/libbpf.h>
#include <linux/types.h>

struct sizes {
	__u32 flows;  /* room in the flow table */
	__u32 halved; /* how often their usual size was halved */
	__u64 most;   /* bytes that all take when they are full */
};

/* The most that sizes are halved; a table keeps at least 1024 entries. */
#define SIZES_HALVED_MAX 4

/*
 * Choose sizes for a process that may have so much memory. `flows`: room that is wanted in the flow
 * table whatever it takes; 0: the usual. 0 or -errno.
 */
int sizes_choose(__u64 memory, __u32 flows, struct sizes *ret_sizes);

/* Give the tables of an opened object these sizes. 0 or -errno. */
int sizes_set(struct bpf_object *object, const struct sizes *sizes);

#endif
