/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands in the memory of the current process. */
#ifndef CTXPROP_PROBES_USER_BPF_H
#define CTXPROP_PROBES_USER_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "probes/kernel.bpf.h"

/* Eight bytes; 0 if they cannot be read. */
static __always_inline __u64 user_read(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (const void *)address);
	return value;
}

/* So many words; returns whether all can be read. */
static __always_inline int user_words(__u64 address, __u64 *ret_words, __u32 count)
{
	return !bpf_probe_read_user(ret_words, count * sizeof(*ret_words), (const void *)address);
}

#define USER_CHUNK 8 /* words that are read at a time */

/*
 * Read the next words of a stack, which is looked through from `ret_at` to its beginning (`end`).
 * Returns whether there were any; the last ones may lie behind it.
 */
static __always_inline int user_chunk(__u64 *ret_at, __u64 end, __u64 ret_words[USER_CHUNK])
{
	const __u64 size = USER_CHUNK * sizeof(__u64);

	if (*ret_at >= end || bpf_probe_read_user(ret_words, size, (const void *)*ret_at))
		return 0;
	*ret_at += size;
	return 1;
}

/* The same on the way to the end of a stack: the words that stand before `ret_at`. */
static __always_inline int user_chunk_before(__u64 *ret_at, __u64 ret_words[USER_CHUNK])
{
	const __u64 size = USER_CHUNK * sizeof(__u64);

	*ret_at -= size;
	return !bpf_probe_read_user(ret_words, size, (const void *)*ret_at);
}

/* Of the current thread; 0 where it is not known how to get it. */
static __always_inline __u64 user_thread_pointer(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();

	if (!bpf_core_field_exists(task->thread.fsbase))
		return 0;
	return BPF_CORE_READ(task, thread.fsbase);
}

#endif
