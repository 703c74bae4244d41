/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread of a program in C or the like has at hand while it reads or writes: registers that
 * functions leave as they were, and the last words of its stack (x86-64). The object of the
 * connection is among them, and has the descriptor in it.
 */
#ifndef CTXPROP_RUNTIMES_NATIVE_HAND_BPF_H
#define CTXPROP_RUNTIMES_NATIVE_HAND_BPF_H

#include "probes/descriptor.bpf.h"
#include "runtimes/native/object.bpf.h"

static __always_inline int native_take_hand(struct native_search *search, struct task_struct *task)
{
	const struct pt_regs___x86 *regs = (const void *)bpf_task_pt_regs(task);

	for (int i = 0; i < SYSCALL_SAVED; i++)
		search->hand[i] = syscall_saved(regs, i);
	search->sp = regs->sp;
	return !bpf_probe_read_user(&search->hand[SYSCALL_SAVED],
				    sizeof(search->hand) - SYSCALL_SAVED * sizeof(__u64),
				    (const void *)search->sp);
}

/*
 * Begin a search on behalf of the current thread, which reads from or writes to `socket`, the
 * kernel's. Returns the search, which is the thread's own; NULL: it cannot be done.
 */
static __always_inline struct native_search *native_begin(const struct runtime_objects *o,
							  const struct process_address *socket)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct native_search *search;

	search = bpf_task_storage_get(&native_searches, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!search || !bpf_core_field_exists(struct pt_regs___x86, orig_ax))
		return NULL;
	search->descriptor = syscall_argument(task);
	search->low = task->mm ? task->mm->start_brk : 0;
	if (!search->low || socket_of_descriptor(search->descriptor) != socket->address ||
	    !native_take_hand(search, task))
		return NULL;
	search->tgid = socket->tgid;
	search->serving_at = o->serving_at ? o->serving_at - 1 : 0;
	native_forget(search);
	return search;
}

/* The objects at hand that have the descriptor in them. As a callback of bpf_loop(). */
static long native_hand_step(__u32 index, struct native_search **on_stack)
{
	struct native_search *search = *on_stack;
	__u64 word = search->hand[index & (NATIVE_HAND - 1)];
	__u32 at = native_place(search, word);

	if (at == NATIVE_NOWHERE)
		return 0;
	search->at = at;
	native_push(search, word, 0);
	return 0;
}

/*
 * Queue the objects at hand that have the descriptor where it stood in the last one that was found
 * (`*at`, and 1; 0: none was), or else where the first one of now has it.
 */
static __always_inline void native_hand(struct native_search *search, __u16 *at)
{
	search->at = *at ? (__u32)*at - 1 : NATIVE_NOWHERE;
	bpf_loop(NATIVE_HAND, native_hand_step, &search, 0);
	if (*at && !search->end) {
		search->at = NATIVE_NOWHERE;
		bpf_loop(NATIVE_HAND, native_hand_step, &search, 0);
	}
	if (search->end)
		*at = search->at + 1;
}

/* Is it an object of another open request than the one that was found? */
static __always_inline int native_is_other(const struct native_search *search, __u64 object)
{
	__u64 request;

	if (!native_is_address(search, object))
		return 0;
	request = native_request(search, object);
	return request && request != search->found.request ? NATIVE_OTHERS_BEYOND : 0;
}

/*
 * Does a word at hand lead to another request, by the last step that has led to the one that was
 * found, or by none?
 */
static long native_other_step(__u32 index, struct native_search **on_stack)
{
	struct native_search *search = *on_stack;
	__u64 object = search->hand[index & (NATIVE_HAND - 1)];

	if (!native_is_address(search, object))
		return 0;
	search->others |= native_is_other(search, object);
	object += search->found.word * sizeof(__u64);
	search->others |= native_is_other(search, user_read(object));
	return search->others != 0;
}

/* After a search: is nothing at hand of another request than the one that was found? */
static __always_inline int native_is_only(struct native_search *search)
{
	if (!search->others)
		bpf_loop(NATIVE_HAND, native_other_step, &search, 0);
	return !search->others;
}

#endif
