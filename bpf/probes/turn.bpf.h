/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a loop has gone back to epoll_wait() since it read something. No hook tells, but
 * the kernel's lists do: the item of a socket stays among the ready ones of its epoll set from
 * the moment it is reported until the next epoll_wait() finds that it is ready no more.
 * Edge-triggered items and those of one shot leave at once; of those loops only is known whether
 * they have slept. So it is where the item is gone: libevent's HTTP and Twisted have a connection
 * watched no more while its request is worked on.
 */
#ifndef CTXPROP_PROBES_TURN_BPF_H
#define CTXPROP_PROBES_TURN_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "compat.bpf.h"
#include "engine/worker.h"
#include "probes/kernel.bpf.h"

#define NONBLOCK 00004000   /* O_NONBLOCK */
#define WAIT_IN  0x001      /* EPOLLIN */
#define WAIT_OUT 0x004      /* EPOLLOUT */
#define WAIT_ET  (1U << 31) /* EPOLLET */
#define WAIT_ONE (1U << 30) /* EPOLLONESHOT */

/* The item of a socket in the first epoll set that it is in; 0: in none. */
static __always_inline __u64 turn_item(const struct file *file)
{
	const struct hlist_head *sets = file->f_ep;
	const struct hlist_node *first = sets ? sets->first : NULL;

	return first ? (__u64)first - bpf_core_field_offset(struct epitem, fllink) : 0;
}

/*
 * A number for the file of an item: that of another one at the same time is another one. (Copied:
 * the verifier lets nobody calculate with what it knows to be a pointer.)
 */
static __always_inline __u32 turn_file(__u64 item)
{
	return (__u64)BPF_CORE_READ((const struct epitem *)item, ffd.file) >> 6;
}

/* Address of the first epoll set that a socket (its address) is in; 0: it is in none. */
static __always_inline __u64 turn_set(__u64 sk)
{
	__u64 socket = (__u64)KERNEL_FIELD(struct sock, sk, sk_socket);
	__u64 file = socket ? (__u64)KERNEL_FIELD(struct socket___kernel, socket, file) : 0;
	__u64 sets = file ? (__u64)KERNEL_FIELD(struct file, file, f_ep) : 0;
	__u64 first = sets ? (__u64)KERNEL_FIELD(struct hlist_head, sets, first) : 0;

	first -= first ? bpf_core_field_offset(struct epitem, fllink) : 0;
	return first ? (__u64)KERNEL_FIELD(struct epitem, first, ep) : 0;
}

/*
 * Is the socket read by a loop, that is: without blocking, and told by epoll when? Fills in the
 * turn in which the current task reads it now.
 */
static __always_inline enum actor_loop turn_begin(const struct task_struct *task,
						  const struct sock *sk, struct turn *ret_turn)
{
	const struct socket___kernel *socket = sk->sk_socket;
	const struct file *file = socket ? socket->file : NULL;
	__u64 item = file ? turn_item(file) : 0;
	__u32 events = 0;

	ret_turn->switches = task->nvcsw;
	ret_turn->item = 0;
	ret_turn->file = item ? turn_file(item) : 0;
	if (item)
		events = KERNEL_FIELD(struct epitem, item, event.events);
	if (events & WAIT_IN && !(events & (WAIT_ET | WAIT_ONE)))
		ret_turn->item = item;
	if (!file || !(file->f_flags & NONBLOCK))
		return ACTOR_BLOCKS;
	/* Runtimes with threads of their own (Haskell's) wait like that, for whoever is free. */
	if (events & WAIT_ONE && task->signal->live.counter > 1)
		return ACTOR_LOOP_ANY;
	return events & WAIT_IN ? ACTOR_LOOP : ACTOR_LOOP_MAYBE;
}

/*
 * Is the socket's item still in its epoll set? Then it is in a list of the socket's, which leads to
 * it and back.
 */
static __always_inline int turn_item_is_there(const struct turn *t)
{
	__u64 item = t->item, there = 0;
	__u64 link = item + bpf_core_field_offset(struct epitem, fllink);
	__u64 back = (__u64)KERNEL_FIELD(struct epitem, item, fllink.pprev);

	return back && !bpf_probe_read_kernel(&there, sizeof(there), (const void *)back) &&
	       there == link;
}

/* Is the socket still among the ready ones, and would leave them with the next epoll_wait()? */
static __always_inline int turn_item_is_ready(const struct turn *t)
{
	__u64 item = t->item;
	const struct list_head *ready = KERNEL_FIELD(struct epitem, item, rdllink.next);

	return ready && (__u64)ready != item + bpf_core_field_offset(struct epitem, rdllink);
}

/* Voluntary context switches of the thread that is asked about: the current one, mostly. */
static __always_inline __u64 turn_switches(void)
{
#ifdef ASKS_APART
	return turn_switches_apart();
#else
	return (__u32)bpf_get_current_task_btf()->nvcsw;
#endif
}

/*
 * Has the thread that runs now not been back in epoll_wait() since? What is gone from its set may
 * have gone in this turn or in a later one.
 */
static __always_inline int turn_goes_on(const struct turn *t)
{
	if (t->item && turn_item_is_ready(t))
		return 1;
	if (t->item && turn_item_is_there(t))
		return 0;
	return t->switches == turn_switches();
}

#define TURN_READY_MAX 64 /* items of a set that are looked at */

/* A walk over the items that are ready. */
struct turn_ready {
	__u64 link;  /* of the next one */
	__u64 first; /* that of the item which the walk began at */
	__u64 head;  /* of the list: no item's */
	int others;  /* 1: something is ready, or was reported, that is not read as sockets are */
};

/* Does epoll report of an item only what is seen when it is read: that bytes have come? */
static __always_inline int turn_item_is_read(__u64 item)
{
	__u64 file = (__u64)KERNEL_FIELD(struct epitem, item, ffd.file);
	__u64 socket = (__u64)KERNEL_FIELD(struct file, file, private_data);

	return (__u64)KERNEL_FIELD(struct socket___kernel, socket, file) == file &&
	       !(KERNEL_FIELD(struct epitem, item, event.events) & WAIT_OUT);
}

/* As a callback of bpf_loop(). */
static long turn_ready_step(__u32 index, struct turn_ready *ready)
{
	__u64 link = ready->link;

	if (!link || link == ready->first)
		return 1;
	if (link != ready->head &&
	    !turn_item_is_read(link - bpf_core_field_offset(struct epitem, rdllink)))
		ready->others = 1;
	ready->link = (__u64)KERNEL_FIELD(struct list_head, link, next);
	return ready->others;
}

/*
 * May the thread, which has not been back in epoll_wait(), be at something else by now that epoll
 * has reported with what it has read: a timer, or a connection that can be written to? What was
 * reported stays in the list until then. Of edge-triggered items it cannot be told.
 */
static __always_inline int turn_may_have_others(const struct turn *t)
{
	__u64 item = t->item, first = item + bpf_core_field_offset(struct epitem, rdllink);
	__u64 set = item ? (__u64)KERNEL_FIELD(struct epitem, item, ep) : 0;
	struct turn_ready ready = {.first = first};

	if (!set)
		return 0;
	ready.head = set + bpf_core_field_offset(struct eventpoll, rdllist);
	ready.link = (__u64)KERNEL_FIELD(struct list_head, first, next);
	bpf_loop(TURN_READY_MAX, turn_ready_step, &ready, 0);
	return ready.others || ready.link != ready.first;
}

/*
 * The same, where having slept or not says too little. Memory of an item that is gone may be that
 * of another socket's.
 */
static __always_inline int turn_surely_goes_on(const struct turn *t)
{
	if (!t->item)
		return turn_goes_on(t);
	return turn_item_is_ready(t) && turn_file(t->item) == t->file;
}

#endif
