/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Programs whose work does not stay on one thread: what the probes must know of their runtimes.
 *
 * User space finds out what a process runs, once somebody asks for it: the probes, when the
 * process begins to listen, or takes its first request. Until it is known the process's calls have
 * no cause.
 */
#ifndef CTXPROP_CONTEXT_RUNTIME_H
#define CTXPROP_CONTEXT_RUNTIME_H

#include "context/model.h"

enum runtime_kind {
	RUNTIME_WANTED = 1,  /* user space was asked */
	RUNTIME_THREADS = 2, /* threads do the work, nothing is special */
	RUNTIME_OPAQUE = 3,  /* something else does, and cannot be told */
	RUNTIME_GO = 4,      /* goroutines */
	RUNTIME_PYTHON = 5,  /* threads, and contexts that run on them */
	RUNTIME_HAPROXY = 6, /* threads, and streams that run on them */
	RUNTIME_RUBY = 7,    /* threads, of which the objects that they hold can be seen */
	RUNTIME_NODE = 8,    /* threads, with timers that can be told apart */
	RUNTIME_JAVA = 9,    /* threads, of which can be seen for whom they work */
};

/* Functions that net/http starts to watch a connection that another goroutine serves. */
#define RUNTIME_WATCHERS 4

enum runtime_flags {
	RUNTIME_POOLS = 1 << 0,  /* calls were seen that may have been asked for over channels */
	RUNTIME_SHOWN = 1 << 1,  /* what goroutines work on is published for their threads */
	RUNTIME_ALWAYS = 1 << 2, /* whatever it costs */
	RUNTIME_COSTLY = 1 << 3, /* it cost too much, and is given up */
	RUNTIME_TASKS = 1 << 4,  /* Python's tasks and queues are watched */
	RUNTIME_QUEUES = 1 << 5, /* Ruby's queues are watched */
	RUNTIME_READS = 1 << 6,  /* Node: it was seen to read in runtime_node.reads */
	RUNTIME_TRANSPORTS = 1 << 7, /* and the transports of uvloop */
};

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
};

/* Where HAProxy has what its threads are at, and functions that tell what that is. */
struct runtime_haproxy {
	__s64 scheduler;      /* of a pointer to its scheduler's data, from the thread pointer */
	__u64 process_stream; /* address of the function of streams */
	__u64 accept;         /* accept_queue_process: of new connections, from other threads */
	__u64 reserved;       /* 0 */
};

/* Where a process has what Ruby knows of its threads. */
struct runtime_ruby {
	__u64 slot;   /* address of the number of the TLS module, and of an offset in it; or 0: */
	__s64 offset; /* from the thread pointer. There stands the execution context's address. */
	__u64 thread_class; /* address of rb_cThread */
	__u64 reserved;
};

/* Addresses of a function: its first, and that behind it. */
struct runtime_range {
	__u64 start, end;
};

/* Functions of Node. */
struct runtime_node {
	struct runtime_range timers; /* node::Environment::RunTimers: calls what they are set for */
	struct runtime_range reads;  /* node::LibuvStreamWrap::OnUvRead: handles what was read */
	struct runtime_range
	    later;                 /* node::Environment::CheckImmediate: what setImmediate() asks */
	struct runtime_range loop; /* uv_run: the event loop */
};

/*
 * Where a process has what Java knows of its threads, and of futures: offsets in JavaThread, in
 * objects, and in what describes classes. Classes that are not loaded yet are 0.
 */
struct runtime_java {
	__u64 slot;          /* address of the number of the virtual machine's TLS module */
	__u64 heap;          /* where the addresses begin that are kept in 32 bits */
	__u64 classes;       /* the same for those of classes */
	__u64 code;          /* where code begins that it has compiled */
	__u32 code_size;     /* bytes; 0: not known */
	__u32 future_class;  /* FutureTask, in 32 bits */
	__u32 channel_class; /* SocketChannelImpl */
	__u16 class_shift;
	__u16 layout;         /* Klass._layout_helper: how large its objects are */
	__u16 descriptor;     /* SocketChannelImpl.fdVal */
	__u16 heap_shift;     /* addresses in 32 bits are shifted by so many */
	__u16 variable;       /* of the current JavaThread's address, in the TLS module's block */
	__u16 object;         /* JavaThread._threadObj: address of that of the thread's object */
	__u16 virtual_object; /* JavaThread._vthread: of what runs on it; 0: no such thing */
	__u16 stack;          /* JavaThread._stack_base: address of the stack's beginning */
	__u16 buffer_start;   /* JavaThread: memory for objects that it makes, from here */
	__u16 buffer_top;     /* to here */
	__u16 enters, waits;  /* JavaThread: the monitor that it waits to enter, or waits for */
	__u16 class;          /* of an object's class */
	__u16 native;         /* Thread.eetop: the JavaThread; 0 in virtual ones */
	__u16 number;         /* Thread.tid: used once */
	__u16 blocker;        /* Thread.parkBlocker: the object that it waits for */
	__u16 runner;         /* FutureTask.runner: the thread at work on it */
	__u16 waiters;        /* FutureTask.waiters: who waits for it: */
	__u16 waiter;         /* FutureTask.WaitNode.thread */
	__u16 reserved[3];    /* 0 */
};

/*
 * So often goroutines of a process may change in a second (nearly) and still be published: each
 * time a probe takes one or two microseconds, so that this is some per cent of a CPU.
 */
#define RUNTIME_CHANGES_MAX    20000
#define RUNTIME_CHANGES_SECOND 30 /* log2 of its length in ns */

/* log2 of the seconds, nearly, between two looks at a program that may load what is missing. */
/* Where goroutines of net/http begin. Addresses; 0: none. */
struct runtime_go {
	__u64 watchers[RUNTIME_WATCHERS]; /* they watch a connection while its request is served */
	__u64 dials; /* connects for a call, and hands the connection to whoever waits then */
};

#define RUNTIME_LOOKS_MAX 7 /* a power of two, less one */

/* Map `runtimes`, by tgid. */
struct runtime {
	__u32 kind;         /* enum runtime_kind */
	__u32 flags;        /* enum runtime_flags */
	__s32 g_offset;     /* of `g`, from the thread pointer */
	__u32 curg_offset;  /* of `curg` in Go's struct m */
	__u32 recvx_offset; /* of `recvx` in Go's struct hchan */
	__u32 changes;      /* of goroutines, in `second`; Java: looks at it */
	__u64 second; /* the last in which one was seen, on whatever CPU; Java: of the next look */
	union {
		struct runtime_go go;
		struct runtime_python python;
		struct runtime_haproxy haproxy;
		struct runtime_ruby ruby;
		struct runtime_node node;
		struct runtime_java java;
	};
};
_Static_assert(sizeof(struct runtime) == 120, "runtime is shared");

/* Where things stand in Go's structs, in all versions that are supported. */
#define GO_G_OFFSET          (-8) /* of g, from the thread pointer, in nearly all programs */
#define GO_M_G0              0    /* m.g0 */
#define GO_G_M               48   /* g.m */
#define GO_G_SCHED_PC        64   /* g.sched.pc: in a new goroutine, what it begins with */
#define GO_HCHAN_DATAQSIZ    8    /* hchan.dataqsiz: room for messages that nobody waits for */
#define GO_HCHAN_BUF         16   /* hchan.buf: these messages */
#define GO_HCHAN_ELEMSIZE    24   /* hchan.elemsize, 2 bytes: of one */
#define GO_TYPE_SIZE         0    /* _type.Size_ */
#define GO_SUDOG_G           0    /* sudog.g: the one that waits */
#define GO_PERSIST_CONN_CONN 88   /* persistConn.conn, of which the pointer */
#define GO_TCP_CONN_FD       0    /* TCPConn.fd, a pointer */
#define GO_NET_FD_SYSFD      16   /* netFD.pfd.Sysfd, 4 bytes */

/* A request that a runtime names. */
struct named {
	__u64 request;  /* 0: none */
	__u32 doubtful; /* 1: only to be believed if no other request could be meant */
	__u32 own;      /* 1: none for certain, the program does it of its own accord */
};

enum goroutine_flags {
	GOROUTINE_CALLED = 1 << 0,   /* it has made calls */
	GOROUTINE_DOUBTFUL = 1 << 1, /* who started it may have done so for another request */
	GOROUTINE_SENT = 1 << 2,     /* it has sent messages since it was handed something */
	GOROUTINE_STARTED = 1 << 3,  /* it has started others since then */
	GOROUTINE_KEEPS = 1 << 4, /* it has taken messages of two requests before it did anything */
	GOROUTINE_DIALS = 1 << 5, /* it connects: whom it hands that to is not who asked for it */
};

/*
 * Map `goroutines`: what is known of one beside what any worker has (map `workers`). A
 * goroutine's memory is used again, so an entry is written anew when a goroutine starts.
 */
struct goroutine {
	__u64 inherited;     /* request of the one that started it */
	__u64 start;         /* address that it began at */
	struct named handed; /* with the last message that it has received; good for one call */
	__u64 serves;        /* goroutine that it does a part of the work of */
	__u64 connection;    /* of net/http's client, which it reads or writes for others */
	__u64 flags;         /* enum goroutine_flags */
};

/*
 * Smaller messages (of nothing, of a truth value, of a number) are signals, not work that is
 * handed over: they come from whoever it may be.
 */
#define MESSAGE_SIZE_MIN 8

/* Addresses of one process. */
struct process_address {
	__u32 tgid;
	__u32 reserved; /* 0 */
	__u64 address;
};

/* Map `round_trips`, by the client's connection: who has handed it a request, and for whom. */
struct round_trip {
	__u64 goroutine; /* 0: the request is written */
	struct named named;
	__u64 writer; /* a goroutine of the connection; 0: none is known yet */
};

/*
 * Map `go_sockets`, by the address of a socket: the client's connection that it belongs to. Only
 * for those whose writer began before the process was looked at, until it has written once.
 */
struct go_socket {
	__u32 tgid;
	__u32 reserved; /* 0 */
	__u64 connection;
};

/*
 * Map `starts`, by the address at which goroutines begin: do they end with the request for which
 * they were started, or do they go on as workers of a pool?
 */
struct start {
	__u32 ended;    /* are over: their memory is used by others */
	__u32 outlived; /* were still at work when their request was over */
};

/* So many have ended, before there is no doubt. */
#define START_ENDED_MIN 4
/* Of so many one may outlive its request. */
#define START_OUTLIVED_RATIO 16

static inline int start_is_trusted(const struct start *start)
{
	return start->ended >= START_ENDED_MIN &&
	       (__u64)start->outlived * START_OUTLIVED_RATIO <= start->ended;
}

/* Where things stand in Python's objects, in all versions that are supported. */
#define PYTHON_TYPE           8         /* PyObject.ob_type */
#define PYTHON_TYPE_NAME      24        /* PyTypeObject.tp_name: address of a text */
#define PYTHON_TYPE_FLAGS     168       /* PyTypeObject.tp_flags */
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
#define PYTHON_FUNCTION_SELF  24 /* PyCFunctionObject.m_self: of a task's, the task */
#define PYTHON_WAKEUP_TASK    16 /* TaskWakeupMethWrapper.ww_task: before 3.10 instead of that */
#define PYTHON_TASK_WAITS     24 /* TaskObj.task_fut_waiter: so far before task_context */

enum task_flags {
	TASK_MADE = 1 << 0,    /* who made it worked for the request */
	TASK_WOKEN = 1 << 1,   /* it, or who made it, was woken by who had read the request */
	TASK_CALLED = 1 << 2,  /* it has made calls */
	TASK_SHARED = 1 << 3,  /* it was woken for several requests at a time */
	TASK_ORPHAN = 1 << 4,  /* the task that made it, or that one's maker, did not wait for it */
	TASK_AWAITED = 1 << 5, /* the task that made it waited when it began to work */
	TASK_EAGER = 1 << 6, /* it has called within a step of its maker, and was not woken since */
	TASK_THROUGH = 1 << 7, /* it has called through such a one, and was not woken since */
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

/*
 * Rules about tasks, streams and futures that a program must have been seen to keep. They are
 * counted in map `starts`, the number of the rule in place of an address: `ended` when it was kept,
 * else `outlived`.
 */
enum task_rule {
	TASK_RULE_MADE = 1,   /* tasks made for a request that call are over before it */
	TASK_RULE_WOKEN = 2,  /* who is woken for a request answers it, or a task that he makes */
	TASK_RULE_STREAM = 3, /* HAProxy: the stream that was made for a request answers it */
	TASK_RULE_FUTURE = 4, /* Java: who makes a future for a call waits until it is answered */
	TASK_RULE_EAGER = 5,  /* who has a task begin at once, and call, waits then */
};

/* Map `queued`: what was put into a queue of Python, by the address of the item. */
struct queued {
	__u64 request; /* for which; 0: not known */
	__u64 queue;   /* its address */
};

/*
 * In place of a request, at the address of a queue: it holds things that are used and put back, or
 * laid by, or taken several at a time. It hands over nothing.
 */
#define QUEUED_NO_WORK (~0ULL)

#define PYTHON_PARTS 4 /* of an item that is a tuple or a list: the first ones are looked at */

/* Map `python_taken`, by thread: what it has taken out of a queue last; then in map `objects`. */
struct python_taken {
	__u64 request;
	__u64 object[1 + PYTHON_PARTS]; /* addresses: the item, its parts; 0: none */
};

/* Map `arguments`, by the address of an object: who was given it with a job of an executor last. */
struct argument {
	__u64 request; /* the job was put in for this */
	__u32 tid;     /* of the thread that was at it */
	__u32 reserved;
};

/* Where things stand in objects of uvloop and in structs of libuv 1, in all versions. */
#define UVLOOP_HANDLE                                                                              \
	24 /* UVHandle._handle: address of the uv_tcp_t, which begins with its own                 \
	    */
#define LIBUV_TYPE       16  /* uv_handle_t.type, 4 bytes */
#define LIBUV_DESCRIPTOR 184 /* uv_stream_t.io_watcher.fd, 4 bytes */
#define LIBUV_TCP        12  /* UV_TCP */

/* Map `written`, by the address of a socket: who has written what is sent to it next. */
struct written {
	struct worker_key by; /* a context, or a thread that has entered none */
	struct named named;   /* what it was working on then */
	__u64 request;        /* what its task was for, believed or not */
	__u64 made_ns;        /* struct task.made_ns of its task; 0: none is known */
	__u32 position;       /* the socket's number of the first byte */
	__u32 shared;         /* 1: others have written, too, before it was sent */
};

/* Where things stand in HAProxy's structs, in all versions that are supported. */
#define HAPROXY_CURRENT 32 /* thread_ctx.current (task_per_thread.current): the task that runs */
#define HAPROXY_PROCESS 8  /* task.process: its function */
#define HAPROXY_CONTEXT 16 /* task.context: what that works on */

/*
 * Map `streams`, by the worker_key of a stream (its address in place of a goroutine's): written
 * anew when a stream begins, for its memory is used again.
 */
struct stream {
	__u64 request; /* that it was made for; 0: for none that is known */
};

/* Where things stand in Ruby's structs, in all versions that are supported. */
#define RUBY_CONTEXT_STACK 0  /* rb_execution_context_t.vm_stack: where it begins */
#define RUBY_CONTEXT_SIZE  8  /* rb_execution_context_t.vm_stack_size, in words */
#define RUBY_CONTEXT_FRAME 16 /* rb_execution_context_t.cfp: the innermost frame */
#define RUBY_CONTEXT_OWNER 48 /* rb_execution_context_t.thread_ptr */
#define RUBY_THREAD_NATIVE 40 /* rb_thread_t.nt, from 3.3 on */
#define RUBY_NATIVE_ID     16 /* rb_native_thread.thread_id: glibc's is the thread pointer */
#define RUBY_FRAME_SP      8  /* rb_control_frame_t.sp: where the stack ends */
#define RUBY_FRAME_CODE    16 /* rb_control_frame_t.iseq: 0 in functions written in C */
#define RUBY_FRAME_SELF    24 /* rb_control_frame_t.self */
#define RUBY_FRAME_LOCALS  32 /* rb_control_frame_t.ep: the local variables */
#define RUBY_FRAME_BLOCK   40 /* rb_control_frame_t.block_code: the block that it gives away */
#define RUBY_OBJECT_CLASS  8
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

enum object_item {
	OBJECT_CONNECTION,
	OBJECT_ITEM,  /* out of a queue, or a part of one */
	OBJECT_TUPLE, /* Python: only as long as it has such parts */
	OBJECT_LIST,  /* Python: the same */
};

/*
 * Map `objects`: the request that was read from an object of a program last (Ruby: a connection),
 * or that it was taken out of a queue for, as an item or as a part of one (Ruby, Python).
 */
struct object {
	__u64 request;
	__u8 shared; /* 1: others were open meanwhile: it stands for none of them */
	__u8 item;   /* enum object_item */
	__u16 reserved;
	__u32 tid; /* Python: of the thread that has taken it out */
};

#define RUBY_PARTS 4 /* of an item that is an array: so many, the first ones, are looked at */

/* How a thread may have come about: so, if it runs a block with these local variables. */
struct ruby_start {
	__u64 request; /* of who made it, at that moment; 0: none */
	__u64 locals;  /* address of the local variables that the block was given */
	__u64 block;   /* address of its code */
	__u64 maker;   /* thread pointer of who made it */
	__u64 called;  /* 1: it was seen to run so, and to make a call */
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
	__u32 reserved;
	/* and what ran on it then: a thread of Ruby, or a fiber. */
	__u64 context;
	__u64 locals; /* those that its block was given, marked */
};

enum ruby_queue_flags {
	RUBY_QUEUE_LENDS = 1 << 0, /* what is taken out is put back: it holds things to use */
	RUBY_QUEUE_HEAPS = 1 << 1, /* a thread took the next before it had called for the last */
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

/* In place of a goroutine's address: the number of a virtual thread of Java, and this. */
#define JAVA_VIRTUAL (1ULL << 63)

#define JAVA_READERS 256 /* a power of two */

/* A thread of Java that has read a request. */
struct java_reader {
	__u32 tid; /* 0: none */
	__u32 reserved;
	__u64 thread; /* address of its JavaThread */
	__u64 native; /* its thread pointer */
	/* The memory for objects that it makes, and how much of that it had used when it read. */
	__u64 buffer, used;
};

/* Map `java_readers`, by tgid: each has the place that its number says. */
struct java_readers {
	struct java_reader reader[JAVA_READERS];
};

/*
 * Map `java_held`, by process and thread: where a thread of Java, which has read a request from a
 * socket that does not block, has the connection on its stack.
 */
struct java_held {
	__u64 request;
	__u64 frames; /* a number made of all words to `end` that are no addresses of objects */
	__u64 start;  /* where functions of Java begin: the first word that is an address of code */
	__u64 at;     /* where the address of an object is that leads to the connection; 0: none */
	__u64 end;    /* the next address of code behind that. Stacks grow downwards. */
	__u32 steps;  /* by which fields: a byte for each, in units of 4 bytes, the first lowest */
	__u32 descriptor; /* of the connection */
	__u32 misses;     /* requests in a row that it was not seen to be at */
	__u32 shared;     /* 1: another request of the same connection was still open then */
};

/* What the ring buffer `runtime_events` carries: a process that user space should look at. */
struct runtime_event {
	__u32 tgid;
};

#endif
