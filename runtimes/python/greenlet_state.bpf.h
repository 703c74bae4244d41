/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module of greenlets knows of the current thread. */
#ifndef CTXPROP_RUNTIMES_PYTHON_GREENLET_STATE_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_GREENLET_STATE_BPF_H

#include "runtimes/runtime.h"
#include "probes/tls.bpf.h"

/* Address of the module's ThreadState of the current thread; 0: there is none. */
static __always_inline __u64 greenlet_state(const struct runtime *runtime)
{
	__u64 thread = user_thread_pointer(), words[GREENLET_WORDS] = {}, state;
	__u64 block = thread ? tls_block(thread, user_read(runtime->python.greenlets)) : 0;

	if (!block || !user_words(block, words, GREENLET_WORDS))
		return 0;
	/* One of them is no address: whether the other one has been made. */
	state = words[0] < ADDRESSES_FROM ? words[1] : words[0];
	return state < ADDRESSES_FROM ? 0 : state;
}

#endif
