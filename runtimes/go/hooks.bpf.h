/* SPDX-License-Identifier: GPL-2.0-only */
/* Go: who is at work, and what is shown of it. */
#ifndef CTXPROP_RUNTIMES_GO_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_GO_HOOKS_BPF_H

#include "runtimes/go/show.bpf.h"
#include "runtimes/go/worker.bpf.h"

#endif
