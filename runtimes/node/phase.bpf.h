/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Node: does the event loop handle now what it has read last, or does it do something else: run
 * its timers, go on with what another thread was asked for? The stack tells: Node, its JavaScript
 * and libuv keep frame pointers.
 */
#ifndef CTXPROP_RUNTIMES_NODE_PHASE_BPF_H
#define CTXPROP_RUNTIMES_NODE_PHASE_BPF_H

#include "compat.bpf.h"
#include "probes/decide.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "probes/syscall.bpf.h"
#include "probes/user.bpf.h"
#include "runtimes/node/work.bpf.h"

#define PHASE_FRAMES 128

/*
 * A libuv without frame pointers (a library of Debian 13's, say) may use the register for something
 * else, and has saved it then: among so many words below the one that it returns to, which is among
 * so many from the end of the stack on.
 */
#define PHASE_SAVED  6
#define PHASE_CHUNK  8 /* words read at once */
#define PHASE_CHUNKS 12
#define PHASE_NEAR   256      /* bytes from there to the frame of who has called libuv, at most */
#define PHASE_STACK  0x800000 /* a main thread's stack, as a rule */

struct frame {
	__u64 next; /* of the function that has called this one */
	__u64 returns;
};

static __always_inline int range_has(const struct runtime_range *range, __u64 address)
{
	return address >= range->start && address < range->end;
}

static __always_inline int frame_is_in(const struct frame *frame, const struct runtime_range *range)
{
	return range_has(range, frame->returns);
}

/*
 * The frame of who has called a function of libuv, to which that returns from `at`: the nearest
 * that it has saved. (Other registers may have addresses in the frames of the caller's callers.)
 */
static __always_inline __u64 phase_saved(__u64 at)
{
	__u64 nearest = at + PHASE_NEAR;

	for (int i = 1; i <= PHASE_SAVED; i++) {
		__u64 frame = user_read(at - i * sizeof(frame));

		if (frame > at && frame < nearest)
			nearest = frame;
	}
	return nearest < at + PHASE_NEAR ? nearest : 0;
}

/* The frame of the function that writes, of the current thread, whose stack ends at `end`. */
VERIFIED_ALONE __u64 phase_writer(const struct runtime *runtime, __u64 end)
{
	__u64 words[PHASE_CHUNK];

	if (!runtime || !runtime->node.writes.start)
		return 0;
	for (int i = 0; i < PHASE_CHUNKS; i++, end += sizeof(words)) {
		if (bpf_probe_read_user(words, sizeof(words), (const void *)end))
			return 0;
		for (int j = 0; j < PHASE_CHUNK; j++)
			if (range_has(&runtime->node.writes, words[j]))
				return phase_saved(end + j * sizeof(words[0]));
	}
	return 0;
}

/* The innermost frame of the current thread that can be told. */
static __always_inline __u64 phase_innermost(const struct runtime *runtime)
{
	__u64 frame = syscall_frame(), end = syscall_stack(bpf_get_current_task_btf());

	return frame - end < PHASE_STACK ? frame : phase_writer(runtime, end);
}

/* A program that was seen to read so does not do it in another way. */
static __always_inline enum actor_phase phase_reads(struct runtime *runtime)
{
	if (ENGINE_LEARNS && !(runtime->flags & RUNTIME_READS))
		__sync_fetch_and_or(&runtime->flags, RUNTIME_READS);
	return PHASE_READING;
}

/* From the first one on, it is followed what was left for later. */
static __always_inline enum actor_phase phase_later(struct runtime *runtime)
{
	if (ENGINE_LEARNS && !(runtime->flags & RUNTIME_LATER) &&
	    !(__sync_fetch_and_or(&runtime->flags, RUNTIME_LATER) & RUNTIME_LATER))
		runtime_tell(bpf_get_current_pid_tgid() >> 32);
	return PHASE_LATER;
}

/* Has the stack told before what the program does, so that it may be believed? */
static __always_inline int phase_is_told(const struct runtime *runtime)
{
	return (runtime->flags & (RUNTIME_READS | RUNTIME_LATER)) != 0;
}

/* enum actor_phase of one that goes on with a connection which has come. */
static __always_inline enum actor_phase phase_accepts(const struct runtime *runtime)
{
	return phase_is_told(runtime) ? PHASE_ACCEPTS : PHASE_UNTOLD;
}

/* The same of what comes of neither reading nor timers: of another thread's work, maybe. */
static __always_inline enum actor_phase phase_else(struct runtime *runtime)
{
	if (ENGINE_LEARNS && !(runtime->flags & RUNTIME_WORKS) &&
	    !(__sync_fetch_and_or(&runtime->flags, RUNTIME_WORKS) & RUNTIME_WORKS))
		runtime_tell(bpf_get_current_pid_tgid() >> 32);
	return runtime->flags & RUNTIME_READS ? PHASE_APART : PHASE_UNTOLD;
}

/*
 * Is the frame at `at` of who goes on with work, or of what that has jumped to? It stands at the
 * beginning of the same stack, and returns to the same place.
 */
static __always_inline int frame_goes_on(const struct work *work, __u64 at,
					 const struct frame *frame)
{
	return work && at + sizeof(frame->next) == work->stack && frame->returns == work->returns;
}

/* enum actor_phase of the current thread of Node. Of very deep stacks it cannot be told. */
VERIFIED_ALONE int phase_of(struct runtime *runtime)
{
	const struct work *work;
	struct frame frame;
	__u64 at;

	if (!runtime)
		return PHASE_UNTOLD;
	work = runtime->flags & (RUNTIME_WORKS | RUNTIME_MESSAGES) ? work_of_thread() : NULL;
	at = phase_innermost(runtime);
	for (int i = 0; at && i < PHASE_FRAMES; i++) {
		if (bpf_probe_read_user(&frame, sizeof(frame), (const void *)at))
			break;
		/* (In the course of reading, if another process of a cluster has sent it.) */
		if (frame_is_in(&frame, &runtime->node.instantiates))
			return phase_accepts(runtime);
		if (frame_is_in(&frame, &runtime->node.reads))
			return phase_reads(runtime);
		if (frame_is_in(&frame, &runtime->node.timers))
			return PHASE_APART;
		if (frame_is_in(&frame, &runtime->node.later))
			return phase_later(runtime);
		if (frame_is_in(&frame, &runtime->node.accepts))
			return phase_accepts(runtime);
		if (frame_goes_on(work, at, &frame))
			return PHASE_WORK;
		if (work && !work->stack && frame_is_in(&frame, &runtime->node.messages))
			return PHASE_WORK;
		if (frame_is_in(&frame, &runtime->node.loop))
			return phase_else(runtime);
		if (frame.next <= at) /* stacks grow downwards */
			break;
		at = frame.next;
	}
	return PHASE_UNTOLD;
}

#endif
