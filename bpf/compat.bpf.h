/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between compilers and kernels, each with the reason why.
 */
#ifndef CTXPROP_COMPAT_BPF_H
#define CTXPROP_COMPAT_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/*
 * A function that the verifier walks once, on its own, instead of from every place that calls
 * it with everything that may be known there. Its pointers may be NULL, for all it knows. (Weak,
 * since two objects that are linked into one may both have it.)
 */
#define VERIFIED_ALONE __weak __noinline

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
