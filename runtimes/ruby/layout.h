/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Ruby: where its threads and queues are, and what the probes keep of them. */
#ifndef CTXPROP_RUNTIMES_RUBY_LAYOUT_H
#define CTXPROP_RUNTIMES_RUBY_LAYOUT_H

#include "runtimes/common.h"
#include "runtimes/ruby/code_layout.h"

/* Where a process has what Ruby knows of its threads. */
struct runtime_ruby {
	__u64 slot;   /* address of the number of the TLS module, and of an offset in it; or 0: */
	__s64 offset; /* from the thread pointer. There stands the execution context's address. */
	__u64 thread_class; /* address of rb_cThread */
	__u32 code_layout;  /* enum ruby_code_layout, for profiles; none: functions have no names */
	__u32 reserved;
};

/* Where things stand in Ruby's structs, in all versions that are supported. */
#define RUBY_CONTEXT_STACK 0  /* rb_execution_context_t.vm_stack: where it begins */
#define RUBY_CONTEXT_SIZE  8  /* rb_execution_context_t.vm_stack_size, in words */
#define RUBY_CONTEXT_FRAME 16 /* rb_execution_context_t.cfp: the innermost frame */
#define RUBY_CONTEXT_OWNER 48 /* rb_execution_context_t.thread_ptr */
#define RUBY_THREAD_NATIVE 40 /* rb_thread_t.nt, from 3.3 on */
#define RUBY_NATIVE_ID     16 /* rb_native_thread.thread_id: glibc's is the thread pointer */
#define RUBY_FRAME_SMALL   56 /* bytes of rb_control_frame_t */
#define RUBY_FRAME_LARGE   64 /* in 3.1 */
#define RUBY_FRAME_SP      8  /* rb_control_frame_t.sp: where the stack ends */
#define RUBY_FRAME_CODE    16 /* rb_control_frame_t.iseq: 0 in functions written in C */
#define RUBY_FRAME_SELF    24 /* rb_control_frame_t.self */
#define RUBY_FRAME_LOCALS  32 /* rb_control_frame_t.ep: the local variables */
#define RUBY_FRAME_BLOCK   40 /* rb_control_frame_t.block_code: the block that it gives away */
#define RUBY_OBJECT_CLASS  8
#define RUBY_DATA_TYPE     16   /* RTypedData.type: where it is described, its name first */
#define RUBY_TYPE_MASK     0x1f /* of the first word of an object */
#define RUBY_TYPE_ARRAY    0x07
#define RUBY_TYPE_FILE     0x0b      /* an IO object */
#define RUBY_TYPE_DATA     0x0c      /* one with a structure in C, a queue for example */
#define RUBY_ARRAY_WITHIN  (1 << 13) /* of the first word of an array: its items are in it */
#define RUBY_ARRAY_SHIFT   15        /* then so many bits further are their number, */
#define RUBY_ARRAY_MASK    0x7f      /* of so many */
#define RUBY_ARRAY_ITEMS   16        /* and they begin here */
#define RUBY_ARRAY_LENGTH  16        /* otherwise, how many there are */
#define RUBY_ARRAY_POINTER 32        /* and where they begin */
#define RUBY_STACK_MAX     1024 /* words of a stack that are looked at, from its beginning on */

#define RUBY_PARTS 4 /* of an item that is an array: so many, the first ones, are looked at */

/* How a thread may have come about: so, if it runs a block with these local variables. */
struct ruby_start {
	__u64 request; /* of who made it, at that moment; 0: none */
	__u64 locals;  /* address of the local variables that the block was given */
	__u64 block;   /* address of its code */
	__u64 maker;   /* thread pointer of who made it */
	__u64 called;  /* enum ruby_called */
};

/* What was seen of a thread that runs like that. */
enum ruby_called {
	RUBY_CALLED_NOT,
	RUBY_CALLED, /* it makes calls */
	RUBY_DONE,   /* and may do so for any request by now */
};

#define RUBY_STARTS 4 /* a power of two */

#define RUBY_TAKEN_LAST 4 /* a power of two */

/* What a thread has taken out of a queue. */
struct ruby_taken {
	__u64 queue; /* address of the object */
	__u64 item;  /* an object's address, or a number or the like */
};

/*
 * Map `ruby_threads`, by the thread pointer of native threads, which are used again. Who wakes one
 * before it has begun to run a block may have made a thread of it, or do something else; so the
 * last few ways are kept, and the thread's own stack tells which one is true.
 */
struct ruby_thread {
	struct ruby_start start[RUBY_STARTS];
	__u32 starts; /* counts up for ever; the last one's place is (starts - 1) & (size - 1) */
	__u32 called; /* 1: one that it has made has called, for what it took out of a queue last */
	__u64 made;   /* the thread that it has made itself last, until the next response */
	/* What it has taken out of queues last, by `takes` as above, */
	struct ruby_taken taken[RUBY_TAKEN_LAST];
	__u32 takes;
	__u32 puts; /* number of the queue that it has put something into, since it asked one */
	/* and what ran on it then: a thread of Ruby, or a fiber. */
	__u64 context;
	__u64 locals; /* those that its block was given, marked */
};

enum ruby_queue_flags {
	RUBY_QUEUE_LENDS = 1 << 0, /* what is taken out is put back: it holds things to use */
	RUBY_QUEUE_HEAPS = 1 << 1, /* a thread took the next before it had called for the last */
	RUBY_QUEUE_WORKS = 1 << 2, /* one has called, and asked for the next then */
};

/* Map `ruby_queues`, by the address of the object. */
struct ruby_queue {
	__u32 taken; /* items, in all: the number of the first one that waits in it */
	__u32 flags; /* enum ruby_queue_flags */
};

/* Map `ruby_places`: by an item's number in its queue, */
struct ruby_place {
	__u32 tgid;
	__u32 number;
	__u64 queue;
};

/* what was put there. */
struct ruby_item {
	__u64 request; /* for which; 0: not known */
	__u64 item;    /* an object's address, or a number or the like */
};

#endif
