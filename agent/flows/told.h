/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What BPF iterators report about sockets: entries of one size, each of which begins with a struct
 * record_ends.
 */
#ifndef CTXPROP_TOLD_H
#define CTXPROP_TOLD_H

#include <stddef.h>
#include <bpf/libbpf.h>

#include "abi.h"

struct told {
	void *entry; /* sorted by addresses and ports */
	size_t count, size;
};

/*
 * Run an iterator program, which is loaded, over a map, and keep what it tells of one network
 * namespace (as in struct flow_key; 0: of all). To be freed. 0 or -errno.
 */
int told_read(const struct bpf_program *program, int map_fd, size_t entry_size, __u32 netns,
	      struct told *ret_told);

void told_free(struct told *told);

/* The entry of the socket at our end of a flow, or NULL. */
const void *told_find(const struct told *told, const struct flow_key *key);

#endif
