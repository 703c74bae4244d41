/* SPDX-License-Identifier: GPL-2.0-only */
/* How a hook gets its answer: a choice by the kind of runtime. (BPF has no calls by pointer.) */
#ifndef CTXPROP_RUNTIMES_ANSWER_BPF_H
#define CTXPROP_RUNTIMES_ANSWER_BPF_H

#include "runtimes/list.h"
#include "runtimes/runtime.h"

/*
 * What the runtime of this kind (enum runtime_kind) answers is returned, in a function of its own.
 * If it answers nothing, what stands behind holds.
 */
#define ANSWER(hook, kind, ...)                                                                    \
	switch (kind) {                                                                            \
		ANSWERS_##hook(ANSWER_OF, hook, __VA_ARGS__)                                       \
	}
#define ANSWER_OF(KIND, name, hook, ...)                                                           \
	case RUNTIME_##KIND:                                                                       \
		return name##_##hook(__VA_ARGS__);

#endif
