/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The current thread is asked which request it works on, whatever its process runs. For programs
 * that define ENGINE_ASKS.
 */
#ifndef CTXPROP_PROBES_ASK_BPF_H
#define CTXPROP_PROBES_ASK_BPF_H

#include "probes/actor.bpf.h"
#include "probes/work.bpf.h"
#include "runtimes/asked.bpf.h"

/*
 * Who runs now, as if it were about to connect. Returns whether more is to be asked: a process
 * without requests leaves at once.
 */
VERIFIED_ALONE int work_begin(struct work_asked *ret_asked)
{
	struct actor by; /* keys of maps stand on the stack: Linux 6.1 */

	if (!ret_asked || !work_may_be(&ret_asked->told))
		return 0;
	worker_connecting(&by);
	ret_asked->by = by;
	return 1;
}

/*
 * Fill in what is told of the current thread. To be called by the program itself, not by one of its
 * functions: 6.1 allows eight calls, one in the other, and 512 bytes of stack for all of them.
 */
static __always_inline void work_ask(struct work_asked *ret_asked)
{
	if (!work_begin(ret_asked))
		return;
	hook_asked(&ret_asked->by);
	work_decide(ret_asked);
	hook_work_decided(&ret_asked->by, ret_asked->told.veto);
}

#endif
