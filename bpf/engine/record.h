/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What is put down about a connection for those who look at it. No decision depends on it, save
 * whether threads leave what they have read to others; what the kernel or /proc can tell at any
 * time is read when it is asked for (see record_entry).
 */
#ifndef CTXPROP_ENGINE_RECORD_H
#define CTXPROP_ENGINE_RECORD_H

#include <linux/types.h>

/* Ids of the initial pid namespace; 0: nobody yet. Of a goroutine the thread that ran it. */
struct record_thread {
	__u32 tgid;
	__u32 tid;
};

/* Part of struct socket. */
struct record {
	__u64 since_ns; /* client: connect; server: its first request was read. 0: neither yet */
	__u64 cgroup;   /* id (inode) of the cgroup, version 2, of who did that */
	struct record_thread reader; /* who read last */
	struct record_thread writer; /* who connected, or wrote last */
};
_Static_assert(sizeof(struct record) == 32, "record is shared");

/* Which socket it is: what all that is told of sockets begins with. */
struct record_ends {
	__u8 local[16]; /* as in struct flow_key */
	__u8 remote[16];
	__be16 local_port;
	__be16 remote_port;
	__u32 reserved;
	__u64 netns; /* the whole cookie of its network namespace */
};

/* One followed socket, as the iterator of bpf/record tells it. */
struct record_entry {
	struct record_ends ends;
	__u64 inode;     /* of the socket's file; 0: it has none, or none any more */
	__u64 bytes_in;  /* payload received in order */
	__u64 bytes_out; /* payload sent, each byte once */
	__u32 flags;     /* enum socket_flags */
	__u32 state;     /* as the kernel numbers them: 1 is ESTABLISHED */
	__u32 exchanges; /* server: requests read; client: calls made */
	__u8 evidence;   /* enum evidence and enum veto of the last call */
	__u8 veto;
	__u8 outstanding; /* 1: no byte of its answer was read yet */
	__u8 reserved;
	__u64 request; /* server: read last; client: cause of the last call; 0: none */
	struct record record;
};
_Static_assert(sizeof(struct record_entry) == 128, "record_entry is shared");

#define RECORD_STACK_MAX 32

/* The way in which a thread came to send: return addresses of its program, the last call first. */
struct record_stack {
	struct record_thread who;
	__u32 depth;
	__u32 reserved;
	__u64 address[RECORD_STACK_MAX];
};

/* The last one of a socket, as the iterator tells it. */
struct record_stack_entry {
	struct record_ends ends;
	struct record_stack stack;
};
_Static_assert(sizeof(struct record_stack_entry) == 320, "record_stack_entry is shared");

#endif
