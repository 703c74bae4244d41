/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread sleeps in, told by the registers that it entered the kernel with: tracepoints of
 * system calls would slow down every call of every program.
 */
#ifndef CTXPROP_PROBES_SYSCALL_BPF_H
#define CTXPROP_PROBES_SYSCALL_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "probes/kernel.bpf.h"

struct syscall {
	__s64 number;
	__u64 arg[4];
};

#define FUTEX_X86         202
#define FUTEX_ARM64       98
#define FUTEX_OPERATION   0x7f /* FUTEX_CMD_MASK */
#define FUTEX_WAIT_BITSET 9

static __always_inline int syscall_read_x86(const struct pt_regs___x86 *regs, struct syscall *ret)
{
	ret->number = BPF_CORE_READ(regs, orig_ax);
	if (ret->number != FUTEX_X86)
		return 0;
	ret->arg[1] = BPF_CORE_READ(regs, si);
	ret->arg[3] = BPF_CORE_READ(regs, r10);
	return 1;
}

static __always_inline int syscall_read_arm64(const struct pt_regs___arm64 *regs,
					      struct syscall *ret)
{
	ret->number = BPF_CORE_READ(regs, syscallno);
	if (ret->number != FUTEX_ARM64)
		return 0;
	ret->arg[1] = BPF_CORE_READ(regs, regs[1]);
	ret->arg[3] = BPF_CORE_READ(regs, regs[3]);
	return 1;
}

#define EPOLL_WAIT_X86  232
#define EPOLL_PWAIT_X86 281

/* Does the thread wait for events of epoll? Only asked where it is known how Java does (x86-64). */
static __always_inline int syscall_is_epoll(struct task_struct *task)
{
	const struct pt_regs___x86 *regs = (const void *)bpf_task_pt_regs(task);
	__s64 number;

	if (!bpf_core_field_exists(regs->orig_ax))
		return 0;
	number = BPF_CORE_READ(regs, orig_ax);
	return number == EPOLL_WAIT_X86 || number == EPOLL_PWAIT_X86;
}

/* Where the stack of a thread with these registers ends in user space. */
static __always_inline __u64 syscall_stack_in(const void *regs)
{
	if (bpf_core_field_exists(struct pt_regs___x86, sp))
		return ((const struct pt_regs___x86 *)regs)->sp;
	return ((const struct pt_regs___arm64 *)regs)->sp;
}

/* The first argument of the system call that it is in. */
static __always_inline __u64 syscall_argument_in(const void *regs)
{
	if (bpf_core_field_exists(struct pt_regs___x86, di))
		return ((const struct pt_regs___x86 *)regs)->di;
	return ((const struct pt_regs___arm64 *)regs)->regs[0];
}

/* Where the stack of a thread ends in user space, while it is in the kernel. */
static __always_inline __u64 syscall_stack(struct task_struct *task)
{
#ifdef ASKS_APART
	return asked.stack;
#else
	return syscall_stack_in((const void *)bpf_task_pt_regs(task));
#endif
}

/* The first argument of the system call that a thread is in. */
static __always_inline __u64 syscall_argument(struct task_struct *task)
{
#ifdef ASKS_APART
	return asked.argument;
#else
	return syscall_argument_in((const void *)bpf_task_pt_regs(task));
#endif
}

#define SYSCALL_SAVED 6 /* registers that functions leave as they were */

/* One of these that a thread has kept in its system call (x86-64). */
static __always_inline __u64 syscall_saved(const struct pt_regs___x86 *regs, int number)
{
	switch (number) {
	case 0:
		return regs->bx;
	case 1:
		return regs->r12;
	case 2:
		return regs->r13;
	case 3:
		return regs->r14;
	case 4:
		return regs->r15;
	default:
		return regs->bp;
	}
}

/* The frame of the current thread's function in user space, if it keeps any; else 0. */
static __always_inline __u64 syscall_frame(void)
{
	const void *regs = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return bpf_core_field_exists(struct pt_regs___x86, bp)
		   ? ((const struct pt_regs___x86 *)regs)->bp
		   : 0;
}

/* For how long a thread waits on a futex (FUTEX_WAIT_BITSET). */
enum futex_wait {
	FUTEX_WAIT_NOT, /* it does not */
	FUTEX_WAIT_TIMED,
	FUTEX_WAIT_EVER,
};

/*
 * Does the thread wait for another one? FUTEX_WAIT is not meant: it is what glibc waits for a mutex
 * with, and who leaves one hands over nothing.
 */
static __always_inline enum futex_wait syscall_waits(struct task_struct *task)
{
	const void *regs = (const void *)bpf_task_pt_regs(task);
	struct syscall s = {};
	__u32 operation;

	if (bpf_core_field_exists(struct pt_regs___x86, orig_ax) ? !syscall_read_x86(regs, &s)
								 : !syscall_read_arm64(regs, &s))
		return FUTEX_WAIT_NOT;
	operation = s.arg[1] & FUTEX_OPERATION;
	if (operation != FUTEX_WAIT_BITSET)
		return FUTEX_WAIT_NOT;
	return s.arg[3] ? FUTEX_WAIT_TIMED : FUTEX_WAIT_EVER;
}

#endif
