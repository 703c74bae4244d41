/* SPDX-License-Identifier: GPL-2.0-only */
/* Java's virtual threads, for those who ask while one may not run. */
#ifndef CTXPROP_RUNTIMES_JAVA_PART_BPF_H
#define CTXPROP_RUNTIMES_JAVA_PART_BPF_H

#include "engine/worker.h"
#include "runtimes/runtime.h"
#include "who/who.h"

static __always_inline enum who_what java_part(const struct runtime *runtime,
					       const struct worker_key *key)
{
	return WHO_VIRTUAL;
}

#endif
