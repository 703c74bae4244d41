/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is read of the memory of a program in Go: which goroutine a thread is at, and what one waits
 * for.
 *
 * The runtime keeps the goroutine `g` of a thread in thread-local storage; g.m.curg is the one
 * that runs the program's own code, also while the thread runs the scheduler's.
 */
#ifndef CTXPROP_RUNTIMES_GO_MEMORY_BPF_H
#define CTXPROP_RUNTIMES_GO_MEMORY_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "probes/user.bpf.h"
#include "runtimes/runtime.h"

#define GO_FRAMES 5 /* of a goroutine that is parked, from runtime.gopark on */

/* Address of the current goroutine; 0: there is none, or it cannot be read. */
static __always_inline __u64 goroutine_current(const struct runtime *runtime)
{
	__u64 base = user_thread_pointer();
	__u64 g = base ? user_read(base + runtime->go.g_offset) : 0;
	__u64 m = g ? user_read(g + GO_G_M) : 0;

	return m ? user_read(m + runtime->go.curg_offset) : 0;
}

/* Does the current thread run the goroutine's own code, and not the scheduler's or collector's? */
static __always_inline int goroutine_runs_itself(const struct runtime *runtime)
{
	__u64 base = user_thread_pointer();
	__u64 g = base ? user_read(base + runtime->go.g_offset) : 0;

	return g && g == goroutine_current(runtime);
}

/*
 * Does the current thread look like one of a Go program that nobody has looked at yet? Then what
 * stands below its thread pointer is a goroutine, of which g.m.g0.m is g.m again.
 */
static __always_inline int goroutine_is_likely(void)
{
	__u64 base = user_thread_pointer();
	__u64 g = base ? user_read(base + GO_G_OFFSET) : 0;
	__u64 m = g ? user_read(g + GO_G_M) : 0;
	__u64 g0 = m ? user_read(m + GO_M_G0) : 0;

	return g0 && user_read(g0 + GO_G_M) == m;
}

static __always_inline int is_within(const struct runtime_code *function, __u64 code)
{
	return code >= function->start && code < function->end;
}

/*
 * Is a goroutine parked (or was, until a moment ago) to wait for another one? Not for one that
 * connects for it, or reads the answer to its call.
 */
static __always_inline int goroutine_waits(const struct runtime_go *go, __u64 goroutine)
{
	__u64 frame = user_read(goroutine + go->frame_offset), code;
	int waits = 0;

	for (int i = 0; frame && i < GO_FRAMES; i++) {
		code = user_read(frame + 8) - go->text;
		for (int j = 0; j < RUNTIME_WAITS; j++)
			waits |= is_within(&go->waits[j], code);
		for (int j = 0; j < RUNTIME_CALLS; j++)
			if (is_within(&go->calls[j], code))
				return 0;
		frame = user_read(frame);
	}
	return waits;
}

#endif
