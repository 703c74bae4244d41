/* SPDX-License-Identifier: GPL-2.0-only */
/* C and the like: objects of connections when requests are read, calls begin, and answers come. */
#ifndef CTXPROP_RUNTIMES_NATIVE_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_NATIVE_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "runtimes/native/objects.bpf.h"

/* The request is read, by a thread that no runtime moves work to. */
static __always_inline void native_request_read(struct runtime *runtime, const struct actor *by,
						__u64 id)
{
	struct process_address socket = {.tgid = by->key.tgid, .address = by->path};

	native_reads(runtime, &socket, id);
}

/* What do objects of the connection tell, and does it count? */
static __always_inline void native_is_called(struct actor *a, struct runtime *runtime,
					     struct socket *s, __u64 socket)
{
	struct process_address at = {.tgid = a->key.tgid, .address = socket};

	a->counts = native_calls(runtime, s, &at);
	if (a->counts)
		a->named = s->told;
}

/* After step_call(): objects of the program may have told something of the call. */
VERIFIED_ALONE int native_is_decided(struct socket *s, __u32 tgid)
{
	struct runtime *runtime = runtime_lookup(tgid);
	const struct call *c = s ? socket_last_call(s) : NULL;

	if (runtime && c)
		objects_decided(&runtime->threads.objects, s, c);
	return 0;
}

#endif
