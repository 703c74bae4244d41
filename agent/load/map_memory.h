/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory the tables of a layer take in the kernel, now and at most. */
#ifndef CTXPROP_MAP_MEMORY_H
#define CTXPROP_MAP_MEMORY_H

#include <bpf/bpf.h>
#include <linux/types.h>

/* In bytes. */
struct map_memory {
	__u64 most; /* when every table is full */
	__u64 now;  /* as the kernel reports it; older kernels report the most */
};

/*
 * The most that a map of this shape can take on this machine: entries with what the kernel puts
 * before each, in the sizes that it allocates, and keeps ready for each processor; buckets. 0: it
 * grows with sockets or threads, which keep what they have in it.
 */
__u64 map_memory_most(const struct bpf_map_info *info);

/* Add what is pinned there. 0 or -errno. */
int map_memory_add(const char *path, struct map_memory *memory);

/* Add up the maps that are pinned in this layer's directory. 0 or -errno. */
int map_memory_of(const char *layer_dir, struct map_memory *memory);

#endif
