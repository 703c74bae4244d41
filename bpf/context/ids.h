/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Open requests by the x-request-id that they brought. A program that puts it into its calls says
 * itself which of them is the cause: only its call's head, a packet, shows that, so this comes
 * after the engine has decided, and adds to its verdict or contradicts it.
 *
 * Packets end requests at any time on any CPU. What an entry says of one single request is true
 * nevertheless: `open` is counted before `all` changes, and down after it.
 */
#ifndef CTXPROP_CONTEXT_IDS_H
#define CTXPROP_CONTEXT_IDS_H

#include <linux/types.h>

/* Map `request_ids`. */
struct id_key {
	__u32 tgid; /* of the process that has read the requests */
	__u32 reserved;
	__u64 number; /* request_id_number() */
};

struct id_entry {
	__u64 all; /* exclusive or of the requests */
	__u32 open;
	__u32 reserved;
};

static __always_inline void id_entry_add(struct id_entry *e, __u64 id)
{
	__sync_fetch_and_add(&e->open, 1);
	__sync_fetch_and_xor(&e->all, id);
}

/* Returns whether that was the last one. */
static __always_inline int id_entry_remove(struct id_entry *e, __u64 id)
{
	__sync_fetch_and_xor(&e->all, id);
	return __sync_fetch_and_sub(&e->open, 1) == 1;
}

/* The only request with that id; 0: there are none, or several. */
static __always_inline __u64 id_entry_only(const struct id_entry *e)
{
	return e->open == 1 ? e->all : 0;
}

#endif
