/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers for ids: xoshiro256++ (Blackman and Vigna, 2019), one generator per CPU, seeded
 * from the kernel's. A number costs a tenth of bpf_get_prandom_u32() twice.
 */
#ifndef CTXPROP_TC_RANDOM_BPF_H
#define CTXPROP_TC_RANDOM_BPF_H

#include "00-scratch.bpf.h"

static __always_inline __u64 random_rotate(__u64 x, int k)
{
	return x << k | x >> (64 - k);
}

static __always_inline __u64 random_kernel(void)
{
	return (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
}

/* The generator does not work with a state of zeros. */
static __noinline int random_seed(struct random *r)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = random_kernel();
	r->s[0] |= 1;
	return 0;
}

static __always_inline __u64 random_next(struct random *r)
{
	__u64 result, t;

	if (!r->s[0] && !r->s[1])
		random_seed(r);
	result = random_rotate(r->s[0] + r->s[3], 23) + r->s[0];
	t = r->s[1] << 17;
	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = random_rotate(r->s[3], 45);
	barrier(); /* else the compiler keeps the next state in registers, of which there are too
		      few */
	return result;
}

#endif
