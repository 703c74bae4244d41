/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A user stack on its way into a sample: where the unwinding is, and what it shares with runtimes
 * that know how to go on in the code that they have compiled. x86-64.
 */
#ifndef CTXPROP_PROFILE_FRAME_BPF_H
#define CTXPROP_PROFILE_FRAME_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "compat.bpf.h"
#include "profile/sample.h"
#include "within.bpf.h"

/* One stack on its way. */
struct unwind {
	__u64 pc, sp, bp;
	const struct profile_process *process;
	struct profile_sample *sample;
	__u32 exact; /* pc is the instruction itself, not the one behind a call */
	__u32 stop;  /* enum profile_stop; 0: it goes on */
	const struct profile_mapping *mapping; /* that has pc; NULL: none */
	const struct profile_row *row;         /* the rule of its table; NULL: none */
	const struct runtime *runtime;         /* of the process, if it compiles code at run time */
};

/* Another word of the user's part. */
static __always_inline void frame_add_word(struct profile_sample *s, __u64 word)
{
	__u32 at = s->kernel_count + s->user_count;

	if (!index_within(&at, PROFILE_SLOTS))
		return;
	s->frame[at] = word;
	s->user_count++;
}

/* A frame of machine code. */
static __always_inline void frame_add(struct profile_sample *s, __u64 address)
{
	frame_add_word(s, address & ~PROFILE_FRAME_NAMED);
}

/* A frame of code that a runtime knows by name. */
static __always_inline void frame_add_named(struct profile_sample *s, __u64 address, __u64 check)
{
	frame_add_word(s, address | PROFILE_FRAME_NAMED);
	frame_add_word(s, check);
}

/* Eight bytes of the user's memory. Returns 0, or -1: they cannot be read. */
static __always_inline int unwind_read(__u64 address, __u64 *ret)
{
	return bpf_probe_read_user(ret, sizeof(*ret), (const void *)address) ? -1 : 0;
}

/* The caller of a function that keeps its frame pointer. Returns enum profile_stop, 0: go on. */
static __always_inline __u32 unwind_by_pointer(struct unwind *u)
{
	__u64 frame[2];

	if (!u->bp)
		return PROFILE_STOP_END;
	if (u->bp < u->sp || bpf_probe_read_user(frame, sizeof(frame), (const void *)u->bp))
		return PROFILE_STOP_READ;
	u->sp = u->bp + sizeof(frame);
	u->bp = frame[0];
	u->pc = frame[1];
	return u->pc ? 0 : PROFILE_STOP_END;
}

#endif
