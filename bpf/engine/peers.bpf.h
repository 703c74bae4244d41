/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests that senders of loopback connections leave for the other end. */
#ifndef CTXPROP_ENGINE_PEERS_BPF_H
#define CTXPROP_ENGINE_PEERS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "abi.h"

#define PEERS_MAX 4096

/* By the connection as its client sends; gone when it is read. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PEERS_MAX);
	__type(key, struct flow_key);
	__type(value, __u64);
} peers __weak SEC(".maps");

static __always_inline void peers_leave(const struct flow_key *key, __u64 request)
{
	bpf_map_update_elem(&peers, key, &request, BPF_ANY);
}

/* Returns whether something was left, and what (0: a request that is not known). */
static __always_inline int peers_take(const struct flow_key *key, __u64 *ret_request)
{
	__u64 *left = bpf_map_lookup_elem(&peers, key);

	if (!left)
		return 0;
	*ret_request = *left;
	bpf_map_delete_elem(&peers, key);
	return 1;
}

#endif
