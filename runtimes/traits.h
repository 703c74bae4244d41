/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the engine must know of a runtime, whichever it is: traits, as sets of kinds. */
#ifndef CTXPROP_RUNTIMES_TRAITS_H
#define CTXPROP_RUNTIMES_TRAITS_H

#include "runtimes/runtime.h"

/* Whoever wakes a thread without telling it anything has only left the interpreter's lock. */
static inline int runtime_wakes_for_lock(__u32 kind)
{
	return kind == RUNTIME_RUBY;
}

/*
 * Who is woken has to wait for the interpreter's lock: another thread may take meanwhile what he
 * was woken for.
 */
static inline int runtime_waits_for_lock(__u32 kind)
{
	return kind == RUNTIME_PYTHON;
}

/* One thread waits for what comes on all connections, and others read it. */
static inline int runtime_has_selectors(__u32 kind)
{
	return kind == RUNTIME_JAVA;
}

/* Tasks take turns inside threads, and nothing tells which one runs (engine/tasks.h). */
static inline int runtime_hides_tasks(__u32 kind)
{
	return kind == RUNTIME_UNSEEN;
}

#endif
