/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Node: does the event loop run its timers now? Then what it has read last is not what it is at.
 * The stack tells: Node, its JavaScript and libuv keep frame pointers.
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

/* enum actor_phase of the current thread of Node. Timers are not seen below very deep stacks. */
VERIFIED_ALONE int phase_of(const struct runtime *runtime)
{
	__u64 at = syscall_frame();
	struct frame frame;

	if (!runtime)
		return PHASE_UNTOLD;
	for (int i = 0; at && i < PHASE_FRAMES; i++) {
		if (bpf_probe_read_user(&frame, sizeof(frame), (const void *)at))
			break;
		if (frame.returns >= runtime->node.timers &&
		    frame.returns < runtime->node.timers_end)
			return PHASE_TIMERS;
		if (frame.returns >= runtime->node.loop && frame.returns < runtime->node.loop_end)
			break;
		if (frame.next <= at) /* stacks grow downwards */
			break;
		at = frame.next;
	}
	return PHASE_OTHER;
}

#endif
