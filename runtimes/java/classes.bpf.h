/* SPDX-License-Identifier: GPL-2.0-only */
/* Java: classes that are looked for in its virtual machine, which loads them when it needs them. */
#ifndef CTXPROP_RUNTIMES_JAVA_CLASSES_BPF_H
#define CTXPROP_RUNTIMES_JAVA_CLASSES_BPF_H

#include "runtimes/runtime.bpf.h"

/* Is there nothing more to be found in the virtual machine of Java? */
static __always_inline int runtime_has_classes(const struct runtime_java *java)
{
	return java->future_class && java->waiter && java->channel_class &&
	       java->client.exchange_class && java->client.signaller_class && java->run_class &&
	       java->supply_class;
}

/*
 * Classes of Java are loaded when they are used first: they are looked for again, ever more seldom.
 * For calls and for requests apart, so that requests, which are many, make no call wait.
 */
enum lacks { LACKS_CALLS = 0, LACKS_READS = 8 }; /* where in runtime.changes is how often */

static __always_inline void runtime_looks_for_classes(struct runtime *runtime, __u32 tgid,
						      enum lacks why)
{
	if ((runtime->changes >> why & RUNTIME_LOOKS_MAX) < RUNTIME_LOOKS_MAX)
		runtime->changes += 1 << why;
	runtime_tell(tgid);
}

/* A call was made by a thread that has read no request. */
static __always_inline void runtime_lacks_classes(__u32 tgid)
{
	struct runtime *runtime;
	__u64 second;

	if (!ENGINE_LEARNS)
		return;
	runtime = runtime_lookup(tgid);
	second = bpf_ktime_get_ns() >> RUNTIME_CHANGES_SECOND;
	if (!runtime || runtime_has_classes(&runtime->java) || second < runtime->second)
		return;
	runtime->second = second + (1ULL << (runtime->changes & RUNTIME_LOOKS_MAX));
	runtime_looks_for_classes(runtime, tgid, LACKS_CALLS);
}

/* A request is read: some seconds after calls could have had classes looked for, but have not. */
static __always_inline void runtime_reads_without_classes(__u32 tgid)
{
	struct runtime *runtime;
	__u64 second;

	if (!ENGINE_LEARNS)
		return;
	runtime = runtime_lookup(tgid);
	second = bpf_ktime_get_ns() >> RUNTIME_CHANGES_SECOND;
	if (!runtime || runtime_has_classes(&runtime->java))
		return;
	if (!runtime->second)
		runtime->second = second;
	if (second <
	    runtime->second + (2ULL << (runtime->changes >> LACKS_READS & RUNTIME_LOOKS_MAX)))
		return;
	runtime->second = second;
	runtime_looks_for_classes(runtime, tgid, LACKS_READS);
}

#endif
