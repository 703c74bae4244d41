/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules that a program must have been seen to keep (map `starts`): by their number (enum
 * task_rule), or by the place in its code that they are about.
 */
#ifndef CTXPROP_RUNTIMES_RULE_BPF_H
#define CTXPROP_RUNTIMES_RULE_BPF_H

#include "engine/learns.h"
#include "runtimes/maps.bpf.h"

/* One more piece of evidence that a rule (its number, or a place in code) is right, or wrong. */
static __always_inline void rule_learn(__u32 tgid, __u64 rule, int right)
{
	struct start first = {.ended = right != 0, .outlived = right == 0}, *seen;

	if (!ENGINE_LEARNS)
		return;
	seen = start_lookup(tgid, rule);
	if (!seen)
		start_add(tgid, rule, &first);
	else if (right)
		__sync_fetch_and_add(&seen->ended, 1);
	else
		__sync_fetch_and_add(&seen->outlived, 1);
}

/* Is a rule in doubt? Then it is believed only if no other request could be meant. */
static __always_inline int rule_doubts(__u32 tgid, __u64 rule)
{
	const struct start *seen = start_lookup(tgid, rule);

	return !seen || !start_is_trusted(seen);
}

/* The same of a rule that must never have been broken. */
static __always_inline int rule_may_break(__u32 tgid, __u64 rule)
{
	const struct start *seen = start_lookup(tgid, rule);

	return !seen || !start_is_trusted(seen) || seen->outlived;
}

/* Was a rule broken so often that it means nothing? */
static __always_inline int rule_denies(__u32 tgid, __u64 rule)
{
	const struct start *seen = start_lookup(tgid, rule);

	return seen && seen->outlived && !start_is_trusted(seen);
}

#endif
