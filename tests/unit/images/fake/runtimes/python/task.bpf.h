/* SPDX-License-Identifier: GPL-2.0-only */
/* In place of runtimes/python/task.bpf.h: there is one process, of Python. */
#ifndef CTXPROP_RUNTIMES_PYTHON_TASK_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_TASK_BPF_H

#include "runtimes/python/state.bpf.h"

static inline const struct runtime *runtime_lookup(__u32 tgid)
{
	(void)tgid;
	return &user_runtime;
}

#endif
