/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes of which is not known yet what they run. */
#ifndef CTXPROP_RUNTIMES_WANTED_BPF_H
#define CTXPROP_RUNTIMES_WANTED_BPF_H

#include "probes/object.bpf.h"
#include "runtimes/native/hooks.bpf.h"

/* It may turn out to have been given nothing. */
static __always_inline enum given wanted_thread_given(const struct runtime *runtime, __u32 tgid,
						      __u64 request)
{
	return GIVEN_NOTHING;
}

static __always_inline int wanted_objects_tell(const struct actor *a)
{
	return 1;
}

/* It may turn out to be Node, or none of the runtimes. */
static __always_inline void wanted_request_read(struct runtime *runtime, const struct actor *by,
						__u64 id)
{
	object_is_read(by->key.tgid, by->path, id, 0);
	native_request_read(runtime, by, id);
}

#endif
