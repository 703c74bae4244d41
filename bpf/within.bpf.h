/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a number lies within bounds, said so that the verifier of every kernel believes it. */
#ifndef CTXPROP_WITHIN_BPF_H
#define CTXPROP_WITHIN_BPF_H

#include <linux/types.h>
#include <bpf/bpf_helpers.h>

/*
 * Is `n` in 1..max? Use as: if (!size_within(&n, max)) return -1;
 *
 * Helpers want a length that is not zero. Verifiers learn little from "n != 0", but all of them
 * follow n - 1 < max and n = (n - 1) + 1, if that happens in the register that is used: the
 * barriers keep the compiler from simplifying it.
 */
static __always_inline int size_within(__u32 *n, __u32 max)
{
	__u32 size = *n - 1;

	barrier_var(size);
	if (size >= max)
		return 0;
	barrier_var(size);
	size += 1;
	barrier_var(size);
	*n = size;
	return 1;
}

/*
 * Is `i` an index below `size`, a power of two? The mask says to the verifier, in the register
 * that is used, what the comparison has said to the reader.
 */
static __always_inline int index_within(__u32 *i, __u32 size)
{
	__u32 index = *i;

	if (index >= size)
		return 0;
	barrier_var(index);
	index &= size - 1;
	barrier_var(index);
	*i = index;
	return 1;
}

#endif
