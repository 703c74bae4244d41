/* SPDX-License-Identifier: GPL-2.0-only */
/* Thread-local variables of libraries, by glibc on x86-64. */
#ifndef CTXPROP_PROBES_TLS_BPF_H
#define CTXPROP_PROBES_TLS_BPF_H

#include "probes/user.bpf.h"

/* struct pthread has the address of an array of blocks, 16 bytes each, one for each module. */
#define THREAD_BLOCKS 8
#define BLOCK_SIZE    16

/*
 * The variables that module number `module` has for the thread with this pointer; 0: there are
 * none, or not yet.
 */
static __always_inline __u64 tls_block(__u64 thread, __u64 module)
{
	__u64 block = user_read(user_read(thread + THREAD_BLOCKS) + module * BLOCK_SIZE);

	return block == ~0ULL ? 0 : block;
}

#endif
