/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by all programs of the profiler: filters, the request and the stack of the current thread,
 * and the ring that takes records to user space.
 */
#ifndef CTXPROP_PROFILE_TAKE_BPF_H
#define CTXPROP_PROFILE_TAKE_BPF_H

#include "probes/kernel.bpf.h"
#include "profile/context.bpf.h"
#include "profile/unwind.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, PROFILE_RING_BYTES);
} profile_samples SEC(".maps");

/* The record that a CPU is filling in, with interrupts off: one at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct profile_sample);
} profile_scratch SEC(".maps");

/*
 * The engine's answer, one for each CPU as well. Programs ask the engine first, and do all else in
 * functions of their own, since asking takes most of the stack that Linux 6.1 allows.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct work_asked);
} profile_asked SEC(".maps");

/* The engine's answer for the current thread. Never NULL, which the verifier does not know. */
static __always_inline const struct work_told *take_told(void)
{
	__u32 zero = 0;
	struct work_asked *asked = bpf_map_lookup_elem(&profile_asked, &zero);

	if (!asked)
		return NULL;
	work_ask(asked);
	return &asked->told;
}

/* What the user wants to see; all zero: everything. */
const volatile __u32 wanted_tgid;
const volatile __u64 wanted_cgroup; /* id of its directory, with all below */
const volatile __u32 wanted_cgroup_level;
const volatile __u8 wants_requests; /* only threads that work on one */
const volatile __u8 has_engine;     /* a daemon follows requests, and its maps are used here */

__u64 until_ns;     /* CLOCK_BOOTTIME: there are no samples from then on */
__u64 samples_lost; /* they found no room in the ring */

struct task_struct___life {
	struct task_struct___life *group_leader;
	__u64 start_boottime;
	__u64 self_exec_id;
} __attribute__((preserve_access_index));

/* Registers of user space as the kernel keeps them; the names are the kernel's. */
struct pt_regs___kernel {
	unsigned long bp, ip, sp;
} __attribute__((preserve_access_index));

static __always_inline int is_wanted(__u64 thread)
{
	if (!thread) /* the CPU is idle */
		return 0;
	if (wanted_tgid && thread >> 32 != wanted_tgid)
		return 0;
	return !wanted_cgroup ||
	       bpf_get_current_ancestor_cgroup_id(wanted_cgroup_level) == wanted_cgroup;
}

/* The kernel's part of the stack, if the thread was in the kernel. */
static __always_inline void take_kernel(void *ctx, struct profile_sample *s)
{
	long size = bpf_get_stack(ctx, s->frame, PROFILE_FRAMES_MAX * sizeof(s->frame[0]), 0);

	s->kernel_count = size > 0 ? (__u16)(size / sizeof(s->frame[0])) : 0;
}

/* The registers of user space; all zero: the thread has none. */
struct user_registers {
	__u64 ip, sp, bp;
};

/* The registers with which a thread entered the kernel. */
static __always_inline void registers_of_kernel(struct user_registers *ret)
{
	const struct task_struct *task = (const void *)bpf_get_current_task_btf();
	const struct pt_regs___kernel *regs = (const void *)bpf_task_pt_regs((void *)task);

	*ret = (struct user_registers){};
	if (!task->mm)
		return;
	ret->ip = BPF_CORE_READ(regs, ip);
	ret->sp = BPF_CORE_READ(regs, sp);
	ret->bp = BPF_CORE_READ(regs, bp);
}

/* The user's part of the stack, and what the runtime of the process knows of it. */
static __always_inline void take_user(struct profile_sample *s, const struct user_registers *user)
{
	const struct runtime *runtime = runtime_of_sample(s);

	if (user->sp)
		unwind_user(s, runtime, user->ip, user->sp, user->bp);
	else
		s->stop = PROFILE_STOP_NONE;
	hook_stack_take(s, runtime);
}

/* When the process started, and how often it has called execve() since. */
static __always_inline __u64 life_of_current(void)
{
	const struct task_struct___life *task = (const void *)bpf_get_current_task_btf();

	return task->group_leader->start_boottime + task->self_exec_id;
}

/* Begin with an empty stack. */
static __always_inline void clear_stack(struct profile_sample *s)
{
	s->kernel_count = s->user_count = 0;
	s->named_count = s->named_kind = s->named_layout = s->stop = 0;
	s->label_count = s->labels_left_out = 0;
	s->evidence = s->veto = s->serves = 0;
}

/*
 * Fill in the record of the current thread, but for request, stack and labels. Never NULL, which
 * the verifier does not know.
 */
static __always_inline struct profile_sample *begin_record(enum profile_kind kind, __u64 thread,
							   __u64 now_ns)
{
	__u32 zero = 0;
	struct profile_sample *s = bpf_map_lookup_elem(&profile_scratch, &zero);

	if (!s)
		return NULL;
	s->kind = kind;
	s->time_ns = now_ns;
	s->life = life_of_current();
	s->tgid = thread >> 32;
	s->tid = (__u32)thread;
	bpf_get_current_comm(s->comm, sizeof(s->comm));
	__builtin_memset(s->waited_ns, 0, sizeof(s->waited_ns));
	clear_stack(s);
	return s;
}

static __always_inline void hand_over(struct profile_sample *s)
{
	__u32 count = s->kernel_count + s->user_count + 2 * s->named_count +
		      PROFILE_LABEL_WORDS * s->label_count;
	__u32 size;

	if (count > PROFILE_SLOTS)
		count = PROFILE_SLOTS;
	size = __builtin_offsetof(struct profile_sample, frame) + count * sizeof(s->frame[0]);
	if (bpf_ringbuf_output(&profile_samples, s, size, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&samples_lost, 1);
}

#endif
