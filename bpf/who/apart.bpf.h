/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that ask about another thread than the one that runs (ASKS_APART). All rules are
 * written for the current thread: here what helpers tell of that is told of the other one. What
 * stands in its memory user space has copied; pages that are missing are put down, and then the
 * answer counts for nothing.
 *
 * To be included before anything else that uses these helpers.
 */
#ifndef CTXPROP_WHO_APART_BPF_H
#define CTXPROP_WHO_APART_BPF_H

#define ENGINE_ASKS
#define ASKS_APART

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "who/who.h"

#define NO_SWITCHES (~0ULL) /* it is no thread, or it is not known which */

/* Who is asked about. One question at a time: each object that is loaded has its own. */
struct {
	__u64 id;       /* process and thread, as bpf_get_current_pid_tgid() has them */
	__u64 task;     /* address of the kernel's struct; 0: no thread */
	__u64 switches; /* voluntary context switches, 32 bits of them; or NO_SWITCHES */
	/*
	 * As it has come into the kernel, the last time if it runs: where its stack ends, and the
	 * first argument of the system call. 0: no thread.
	 */
	__u64 stack, argument;
} asked;

__u64 missing[WHO_MISSING]; /* addresses of pages, some more than once */
__u32 missing_count;        /* may be more than there is room for */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, WHO_PAGES);
	__type(key, __u64);
	__type(value, struct who_page);
} who_pages SEC(".maps");

static __always_inline void apart_misses(__u64 page)
{
	__u32 count = missing_count;

	if (count < WHO_MISSING)
		missing[count & (WHO_MISSING - 1)] = page;
	missing_count = count + 1;
}

/* As bpf_probe_read_user(): 0; or less, and all zero. */
static __always_inline long apart_read(void *to, __u32 size, const void *from)
{
	__u64 address = (__u64)from, at = address & ~(__u64)(WHO_PAGE - 1);
	const struct who_page *page = bpf_map_lookup_elem(&who_pages, &at);
	__u32 offset = address & (WHO_PAGE - 1);
	const void *copy = NULL;

	if (!page)
		apart_misses(at);
	else if (offset + size <= page->length)
		copy = page->bytes + offset;
	return bpf_probe_read_kernel(to, size, copy);
}

static __always_inline __u64 turn_switches_apart(void)
{
	return asked.switches;
}

/*
 * Programs cannot have the kernel's struct of another thread. (What asks for it is not loaded: to
 * the verifier this is a number.)
 */
struct task_struct;

static __always_inline struct task_struct *apart_no_task(void)
{
	__u64 none = 0;

	asm volatile("" : "+r"(none));
	return (struct task_struct *)none;
}

#define bpf_get_current_task_btf() apart_no_task()
#define bpf_probe_read_user        apart_read
#define bpf_get_current_pid_tgid() (asked.id)
#define bpf_get_current_task()     (asked.task)

#endif
