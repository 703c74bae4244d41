// SPDX-License-Identifier: GPL-2.0-only
/*
 * Greenlets of Python: who makes whom, and which are gone. Attached to the module _greenlet of
 * programs that take requests.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/python/greenlet.bpf.h"
#include "runtimes/python/uprobe.bpf.h"

/* What a greenlet began with was seen to end before the request that it was made for. */
static __always_inline void count_end(__u32 tgid, const struct goroutine *known)
{
	if (known->inherited && known->start)
		rule_learn(tgid, known->start, 1);
}

static __always_inline void forget(const struct worker_key *key)
{
	const struct goroutine *known = goroutine_lookup(key);

	if (known) {
		count_end(key->tgid, known);
		goroutine_delete(key);
	}
	if (worker_lookup(key))
		worker_delete(key);
}

/*
 * What a greenlet works for goes with those that it makes. One that has called, and has read no
 * request itself, may make one for a call that has waited until it was done.
 */
static __always_inline void inherit(const struct worker_key *maker, struct goroutine *made)
{
	const struct goroutine *known = goroutine_lookup(maker);
	__u64 own = goroutine_reads(maker);
	struct python_begun begun = {};

	made->inherited = own ? own : greenlet_request(maker).request;
	if (own || !made->inherited)
		return;
	python_begins(maker->tgid, &begun);
	made->serves = begun.code;
	if (known && (known->flags & (GOROUTINE_CALLED | GOROUTINE_DOUBTFUL)))
		made->flags = GOROUTINE_DOUBTFUL;
}

/* greenlet.__init__: self. It has not begun to run. */
SEC("uprobe")
int probe_greenlet_made(struct pt_regs *ctx)
{
	struct worker_key maker, child;
	const struct runtime *runtime = python_current(&maker);
	struct goroutine made = {};

	if (!runtime)
		return 0;
	child = (struct worker_key){.tgid = maker.tgid, .context = argument(ctx, 0)};
	forget(&child);
	maker.context = greenlet_current(runtime, maker.tgid);
	maker.tid = 0;
	if (maker.context)
		inherit(&maker, &made);
	if (made.inherited)
		goroutine_set(&child, &made);
	return 0;
}

/* It is freed: self. Another one may stand there next. */
SEC("uprobe")
int probe_greenlet_freed(struct pt_regs *ctx)
{
	struct worker_key key;

	if (!python_current(&key))
		return 0;
	key = (struct worker_key){.tgid = key.tgid, .context = argument(ctx, 0)};
	forget(&key);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
