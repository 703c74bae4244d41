/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Text, eight bytes at a time. Pure: compiled for BPF and natively. */
#ifndef CTXPROP_WORD_H
#define CTXPROP_WORD_H

#include <linux/types.h>

/* The eight bytes at `from`, which need not be aligned; the first one lowest. */
static inline __attribute__((always_inline)) __u64 word_load(const __u8 *from)
{
	__u64 word;

#ifdef __bpf__
	/* A copy would be made byte by byte: BPF code is compiled for strict alignment. */
	word = *(const __u64 *)from;
#else
	__builtin_memcpy(&word, from, sizeof(word));
#endif
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

#endif
