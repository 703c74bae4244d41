/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Who does what happens now, in the store, which whoever includes this has declared. */
#ifndef CTXPROP_ENGINE_WHO_H
#define CTXPROP_ENGINE_WHO_H

#include "engine/account.h"
#include "engine/decide.h"

/*
 * Keys are copied: Linux 6.1 takes them from the stack or a map only, and what is known of who acts
 * need not stand there.
 */
static __always_inline struct process *actor_process(const struct actor *a)
{
	__u32 tgid = a->key.tgid;

	return process_lookup(&tgid);
}

/* NULL: it has none, or nobody is known. */
static __always_inline struct worker *actor_worker(const struct actor *a)
{
	struct worker_key key = a->key;

	return a->kind == ACTOR_UNKNOWN ? NULL : worker_lookup(&key);
}

/* NULL: it has none, or is no thread. */
static __always_inline struct worker *actor_thread(const struct actor *a)
{
	return a->kind == ACTOR_THREAD ? actor_worker(a) : NULL;
}

/* A call or connect of it is some request's, not known whose. */
static __always_inline void actor_unattributed(const struct actor *a)
{
	struct worker_key key = a->key;

	unattributed_add(&key, 1);
}

#endif
