// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tasks and greenlets of Python work on is shown for their thread from where they go on until
 * where they wait again. Attached to the modules _asyncio and _greenlet of programs that take
 * requests, while somebody reads (RUNTIME_SHOWN). These programs only ask: an object of their own.
 */
#define ENGINE_ASKS
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>

#include "probes/show.bpf.h"
#include "runtimes/python/maps.bpf.h"
#include "runtimes/python/uprobe.bpf.h"
#include "runtimes/shown.bpf.h"

/*
 * A step of a task begins, the third argument of what is called, or one goes on within which
 * another one began. A task that begins at once (eager_start) has not entered its context yet: it
 * is shown when it goes on.
 */
SEC("uprobe")
int probe_shown_begins(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime = python_current(&key);

	if (!runtime || !runtime_shows(key.tgid))
		return 0;
	if (key.goroutine && task_has(runtime, argument(ctx, 2), key.goroutine))
		work_show();
	else
		work_hide();
	return 0;
}

/* A step of a task is over. */
SEC("uprobe")
int probe_shown_ends(struct pt_regs *ctx)
{
	struct worker_key key;

	if (python_current(&key))
		work_hide();
	return 0;
}

/* Another greenlet is at work from now on, in its first step or a later one. */
SEC("uprobe")
int probe_shown_switches(struct pt_regs *ctx)
{
	struct worker_key key;

	if (!python_current(&key) || !runtime_shows(key.tgid))
		return 0;
	if (key.goroutine)
		work_show();
	else
		work_hide();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
