/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Node: does the event loop handle now what it has read last, or does it do something else: run
 * its timers, go on with what another thread was asked for? The stack tells: Node, its JavaScript
 * and libuv keep frame pointers.
 */
#ifndef CTXPROP_PROBES_PHASE_BPF_H
#define CTXPROP_PROBES_PHASE_BPF_H

#include "compat.bpf.h"
#include "context/decide.h"
#include "context/runtime.bpf.h"
#include "probes/syscall.bpf.h"
#include "probes/user.bpf.h"

#define PHASE_FRAMES 128

struct frame {
	__u64 next; /* of the function that has called this one */
	__u64 returns;
};

static __always_inline int frame_is_in(const struct frame *frame, const struct runtime_range *range)
{
	return frame->returns >= range->start && frame->returns < range->end;
}

/* A program that was seen to read so does not do it in another way. */
static __always_inline enum actor_phase phase_reads(struct runtime *runtime)
{
	if (!(runtime->flags & RUNTIME_READS))
		__sync_fetch_and_or(&runtime->flags, RUNTIME_READS);
	return PHASE_READING;
}

/* enum actor_phase of the current thread of Node. Of very deep stacks it cannot be told. */
VERIFIED_ALONE int phase_of(struct runtime *runtime)
{
	__u64 at = syscall_frame();
	struct frame frame;

	if (!runtime)
		return PHASE_UNTOLD;
	for (int i = 0; at && i < PHASE_FRAMES; i++) {
		if (bpf_probe_read_user(&frame, sizeof(frame), (const void *)at))
			break;
		if (frame_is_in(&frame, &runtime->node.reads))
			return phase_reads(runtime);
		if (frame_is_in(&frame, &runtime->node.timers))
			return PHASE_APART;
		if (frame_is_in(&frame, &runtime->node.later))
			return PHASE_LATER;
		if (frame_is_in(&frame, &runtime->node.loop))
			return runtime->flags & RUNTIME_READS ? PHASE_APART : PHASE_UNTOLD;
		if (frame.next <= at) /* stacks grow downwards */
			break;
		at = frame.next;
	}
	return PHASE_UNTOLD;
}

#endif
