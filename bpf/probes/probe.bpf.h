/* SPDX-License-Identifier: GPL-2.0-only */
/* What every probe begins with. */
#ifndef CTXPROP_PROBES_PROBE_BPF_H
#define CTXPROP_PROBES_PROBE_BPF_H

#include "engine/maps.bpf.h"
#include "runtimes/runtime.bpf.h"

/* The generation of this object, set before load. */
const volatile __u32 probe_generation __weak = 0;

/* Is this the set of probes that counts? To be asked before any state is touched. */
static __always_inline int probe_is_active(void)
{
	const struct node *now = node_lookup();

	return now && now->generation == probe_generation;
}

/* Is this so on the node (enum node_flags)? */
static __always_inline int node_flag_is(__u32 flag)
{
	const struct node *now = node_lookup();

	return now && (now->flags & flag);
}

/* From now on it is. */
static __always_inline void node_flag_set(__u32 flag)
{
	struct node *now = node_lookup();

	if (now && !(now->flags & flag))
		__sync_fetch_and_or(&now->flags, flag);
}

/* From now on the node needs this (enum node_flags): tell user space, once. */
static __always_inline void node_wants(__u32 flag)
{
	struct node *now = node_lookup();

	if (now && !(__sync_fetch_and_or(&now->flags, flag) & flag))
		runtime_tell(0);
}

#endif
