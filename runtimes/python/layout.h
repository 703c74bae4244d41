/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Python: where its threads, frames and tasks are, and what the probes keep of them. */
#ifndef CTXPROP_RUNTIMES_PYTHON_LAYOUT_H
#define CTXPROP_RUNTIMES_PYTHON_LAYOUT_H

#include "runtimes/common.h"

/* Registers of x86-64 that functions keep, in the order of struct runtime_python.task_register. */
enum python_register { PYTHON_RBX, PYTHON_RBP, PYTHON_R13, PYTHON_R14, PYTHON_R15 };

/*
 * Where Python has the functions that a thread is at, and their local variables: offsets. Since
 * 3.12 there are frames that are no function's, too.
 */
struct runtime_frames {
	__u16 first;     /* in PyThreadState: address of the innermost frame, or of what has that */
	__u16 within;    /* there; or PYTHON_FRAME_ITSELF */
	__u16 before;    /* in frames: address of the caller's */
	__u16 code;      /* in frames: address of the function's code */
	__u16 locals;    /* in frames: the variables begin, 8 bytes each */
	__u16 end;       /* in frames: address of their end; only before 3.11, then this: */
	__u16 owner;     /* in frames: what kind it is, a byte; 0: before 3.11 */
	__u16 variables; /* in code: their number, 4 bytes */
	__u16 arguments; /* in code: how many of them are arguments, */
	__u16 keywords;  /* or can only be given by name; 4 bytes each */
	__u16 flags;     /* in code: 4 bytes */
	__u16 free;      /* in code: number of variables of others, 4 bytes; before 3.11 a tuple */
};

/* Where a process has what Python knows of its threads and tasks. */
struct runtime_python {
	__u64 key;            /* address of the pthread_key_t of a thread's PyThreadState */
	__u32 thread_offset;  /* of `thread_id` in PyThreadState */
	__u32 context_offset; /* of `context` */
	__u32 task_offset;    /* of `task_context` in TaskObj */
	__u32 task_register;  /* enum python_register: has the task where its context is made */
	__u32 stack_offset;   /* of `datastack_chunk` in PyThreadState; 0: before 3.11 */
	__u32 reserved;
	struct runtime_frames frames;
	__u64 greenlets; /* address of the number of the module's TLS that has them; 0: none */
};

/* Where things stand in Python's objects, in all versions that are supported. */
#define PYTHON_TYPE           8         /* PyObject.ob_type */
#define PYTHON_TYPE_NAME      24        /* PyTypeObject.tp_name: address of a text */
#define PYTHON_TYPE_FLAGS     168       /* PyTypeObject.tp_flags */
#define PYTHON_TYPE_BASE      256       /* PyTypeObject.tp_base: address of a type */
#define PYTHON_NUMBER         (1 << 24) /* of these: int and bool, */
#define PYTHON_LIST           (1 << 25)
#define PYTHON_TUPLE          (1 << 26)
#define PYTHON_PLAIN          (0x1d << 24) /* and whatever never changes: str, bytes, tuple, too */
#define PYTHON_SIZE           16           /* PyVarObject.ob_size */
#define PYTHON_ITEMS          24           /* PyTupleObject.ob_item; PyListObject: where that is */
#define PYTHON_CODE_TAKES_ANY 0x0c /* co_flags: arguments without or with names, in any number */
#define PYTHON_FRAME_ITSELF   0xffff
#define PYTHON_FRAME_OF_C     3  /* _PyInterpreterFrame.owner: it is no function's */
#define PYTHON_CONTEXT_BEFORE 16 /* PyContext.ctx_prev: who was current when it was entered */
#define PYTHON_CHUNK_BEFORE   0  /* _PyStackChunk.previous: of a thread's stack */
#define PYTHON_CHUNK_DATA     24 /* _PyStackChunk.data */
#define PYTHON_FUTURE_CONTEXT 32 /* FutureObj.fut_context0: of the first one that waits */
#define PYTHON_FUTURE_WAITER  24 /* FutureObj.fut_callback0: a function of that one */
#define PYTHON_FUTURE_OTHERS                                                                       \
	40                      /* FutureObj.fut_callbacks: a list of all but the first; 0: none   \
				 */
#define PYTHON_FUNCTION_SELF 24 /* PyCFunctionObject.m_self: of a task's, the task */
#define PYTHON_WAKEUP_TASK   16 /* TaskWakeupMethWrapper.ww_task: before 3.10 instead of that */
#define PYTHON_TASK_CORO     16 /* TaskObj.task_coro: so far before task_context */
#define PYTHON_TASK_WAITS    24 /* TaskObj.task_fut_waiter: so far before task_context */

/* What is one for all coroutines of a function. */
#define PYTHON_CORO_NAME 32 /* since 3.11 gi_name, since 3.12 gi_qualname */
#define PYTHON_CORO_CODE 24 /* gi_code; before 3.11 */

#define BUILTIN_FUNCTION 0x5f6e69746c697562ULL /* "builtin_function_or_method", as text */

#define ADDRESSES_FROM 4096 /* what is less is no address */

/*
 * Where the module of greenlets has what it knows of a thread, in all versions from 2.0 on: in one
 * of two words of its thread-local storage, the other one is a truth value.
 */
#define GREENLET_WORDS         2
#define GREENLET_STATE_FIRST   0 /* ThreadState.main_greenlet: the one that the thread began with */
#define GREENLET_STATE_CURRENT 8 /* ThreadState.current_greenlet */
#define GREENLET_IMPL          32 /* PyGreenlet.pimpl: the state of a greenlet */
#define GREENLET_IMPL_WORDS    16 /* of that, among which stack_state.stack_stop is; then: */
#define GREENLET_STACK_WORDS   3
#define GREENLET_STACK_END     0 /* stack_stop: its outermost byte */
#define GREENLET_STACK_SAVED   2 /* _stack_saved: bytes of it that are not on the stack now */

enum task_flags {
	TASK_MADE = 1 << 0,   /* who made it worked for the request */
	TASK_WOKEN = 1 << 1,  /* it, or who made it, was woken by who had read the request */
	TASK_CALLED = 1 << 2, /* it has made calls */
	TASK_SHARED = 1 << 3, /* it was woken for several requests at a time */
	TASK_ORPHAN = 1 << 4, /* the task that made it has not waited yet, or nobody waits for it */
	TASK_AWAITED = 1 << 5, /* the task that made it waits, and somebody does for it */
	TASK_EAGER = 1 << 6, /* it has called within a step of its maker, and was not woken since */
	TASK_THROUGH = 1 << 7,   /* it has called through such a one, and was not woken since */
	TASK_CALLBACK = 1 << 8,  /* no task: `address` is of the future that calls back */
	TASK_OF_ORPHAN = 1 << 9, /* that was in doubt of the task that made it, when it did */
	TASK_FIRST = 1 << 10,    /* who has read the request made it */
	TASK_LATE = 1 << 11,     /* it was made when the request had waited for the one before */
	TASK_OUTLIVES = 1 << 12, /* it was woken when its request was over */
};

/*
 * Map `tasks`: what a task of Python works on, by the worker_key of its context. Nothing tells
 * when a context is freed; but as long as the task has it, nobody else can.
 */
struct task {
	__u64 request; /* 0: none, or none any more */
	__u64 address; /* of the task */
	__u64 made_ns; /* when it was found to be a task: no other one has its address and this */
	__u64 maker;   /* context of the task that made it; 0: none did */
	__u64 maker_made_ns;
	__u32 flags; /* enum task_flags */
	__u32 reserved;
};

/* Map `queued`: what was put into a queue of Python, by the address of the item. */
struct queued {
	__u64 request; /* for which; 0: not known */
	__u64 queue;   /* its address */
};

/*
 * In place of a request, at the address of a queue: it holds things that are used and put back, or
 * stored. It hands over nothing.
 */
#define QUEUED_NO_WORK (~0ULL)
/*
 * The same: threads that do nothing about what they took have taken the next. For each time that
 * they have it is not believed until they were seen so often to be done with it (`queue`: how often
 * yet), up to so many times.
 */
#define QUEUED_KEPT     (~0ULL - 1)
#define QUEUED_KEEP     16
#define QUEUED_KEEP_MAX 64

#define PYTHON_PARTS 4 /* of an item that is a tuple or a list: the first ones are looked at */

/* Map `python_taken`, by thread: what it has taken out of a queue last; then in map `objects`. */
struct python_taken {
	__u64 request;
	__u64 object[1 + PYTHON_PARTS]; /* addresses: the item, its parts; 0: none */
};

/* Where things stand in objects of uvloop and in structs of libuv 1, in all versions. */
#define UVLOOP_HANDLE    24  /* UVHandle._handle: address of its uv_tcp_t */
#define LIBUV_TYPE       16  /* uv_handle_t.type, 4 bytes */
#define LIBUV_DESCRIPTOR 184 /* uv_stream_t.io_watcher.fd, 4 bytes */
#define LIBUV_TCP        12  /* UV_TCP */

/* Where a transport and its protocol have each other: in so many words. */
#define UVLOOP_TRANSPORT_WORDS 20 /* of the transport, from UVLOOP_HANDLE on */
#define UVLOOP_PROTOCOL_WORDS  16 /* of the protocol, behind its head */

/* Map `written`, by the address of a socket: who has written what is sent to it next. */
struct written {
	struct worker_key by; /* a context, or a thread that has entered none */
	struct named named;   /* what it was working on then */
	__u64 request;        /* what its task was for, believed or not */
	__u64 made_ns;        /* struct task.made_ns of its task; 0: none is known */
	__u32 position;       /* the socket's number of the first byte */
	__u32 shared;         /* 1: others have written, too, before it was sent */
};

#endif
