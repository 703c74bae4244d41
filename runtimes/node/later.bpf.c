// SPDX-License-Identifier: GPL-2.0-only
/* Node: its loops begin what was left for later. Attached as opening.bpf.c. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/node/later.bpf.h"
#include "runtimes/node/opening.bpf.h"

/*
 * node::Environment::CheckImmediate(handle): a loop has read everything in this turn. Only in
 * programs that leave calls for later.
 */
SEC("uprobe")
int probe_later_checks(struct pt_regs *ctx)
{
	struct later *l = later_of_thread();
	struct worker_key thread;
	struct worker *w;

	if (!l) {
		w = opening_current(&thread);
		l = w ? later_make() : NULL;
		if (l)
			w->flags |= WORKER_LATER;
	}
	if (l)
		later_checks(l, ctx->rdi);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
