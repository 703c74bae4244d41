/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects that requests are read from. */
#ifndef CTXPROP_PROBES_OBJECT_BPF_H
#define CTXPROP_PROBES_OBJECT_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "engine/maps.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "engine/standing.h"
#include "probes/user.bpf.h"

/*
 * A request is taken up, which was read from this one. `descriptor`: of its connection, if that
 * stands in the object; else 0. Returns whether it is the only one: two open ones tell nothing of
 * it.
 */
static __always_inline int object_is_read(__u32 tgid, __u64 object, __u64 request, __u32 descriptor)
{
	struct process_address at = {.tgid = tgid, .address = object};
	struct object now = {.request = request, .descriptor = descriptor}, *old;

	old = object_lookup(&at);
	now.shared = old && request_standing(old->request) != STANDING_NONE;
	object_set(&at, &now);
	return !now.shared;
}

static __always_inline __u64 object_known_request(const struct object *known)
{
	if (!known || known->shared || request_standing(known->request) == STANDING_NONE)
		return 0;
	return known->request;
}

/* The open request that was read from it; 0: none was, or several. */
static __always_inline __u64 object_request(__u32 tgid, __u64 object)
{
	struct process_address at = {.tgid = tgid, .address = object};

	return object_known_request(object_lookup(&at));
}

/* The same, as long as the descriptor stands at the address `place`. */
static __always_inline __u64 object_request_of(__u32 tgid, __u64 object, __u64 place)
{
	struct process_address at = {.tgid = tgid, .address = object};
	const struct object *known = object_lookup(&at);

	if (!known || known->descriptor != (__u32)user_read(place))
		return 0;
	return object_known_request(known);
}

#endif
