/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of runtimes with a stack of their own: pairs of words behind all frames of a sample. */
#ifndef CTXPROP_PROFILE_NAMED_BPF_H
#define CTXPROP_PROFILE_NAMED_BPF_H

#include "profile/sample.h"
#include "within.bpf.h"

/* Append a function; the innermost comes first. */
static __always_inline void named_add(struct profile_sample *s, __u64 address, __u64 check)
{
	__u32 at = s->kernel_count + s->user_count + 2 * s->named_count, next = at + 1;

	if (s->named_count >= PROFILE_NAMED_MAX || !index_within(&at, PROFILE_SLOTS) ||
	    !index_within(&next, PROFILE_SLOTS))
		return;
	s->frame[at] = address & ~PROFILE_NAMED_ENTRY;
	s->frame[next] = check;
	s->named_count++;
}

/* Mark the function that was appended last as one that a new call of the interpreter runs. */
static __always_inline void named_mark_entry(struct profile_sample *s)
{
	__u32 at = s->kernel_count + s->user_count + 2 * s->named_count - 2;

	if (s->named_count && index_within(&at, PROFILE_SLOTS))
		s->frame[at] |= PROFILE_NAMED_ENTRY;
}

#endif
