/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Programs whose work does not stay on one thread: what the probes must know of their runtimes.
 *
 * User space finds out what a process runs, once somebody asks for it: the probes, when the
 * process begins to listen, or takes its first request. Until it is known the process's calls have
 * no cause.
 */
#ifndef CTXPROP_RUNTIMES_RUNTIME_H
#define CTXPROP_RUNTIMES_RUNTIME_H

#include "runtimes/common.h"
#include "runtimes/go/layout.h"
#include "runtimes/haproxy/layout.h"
#include "runtimes/java/layout.h"
#include "runtimes/node/layout.h"
#include "runtimes/python/layout.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/native/layout.h"

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
	RUNTIME_UNSEEN = 10, /* threads, with tasks that cannot be seen (engine/tasks.h) */
	RUNTIMES,
};

enum runtime_flags {
	RUNTIME_POOLS = 1 << 0,  /* work may have been handed over otherwise: channels, threads */
	RUNTIME_SHOWN = 1 << 1,  /* what changes hands on its threads is published (node_publish) */
	RUNTIME_ALWAYS = 1 << 2, /* whatever it costs */
	RUNTIME_COSTLY = 1 << 3, /* it cost too much, and is given up */
	RUNTIME_TASKS = 1 << 4,  /* Python's tasks and queues are watched */
	RUNTIME_QUEUES = 1 << 5, /* Ruby's queues are watched */
	RUNTIME_READS = 1 << 6,  /* Node: it was seen to read in runtime_node.reads */
	RUNTIME_TRANSPORTS = 1 << 7, /* and the transports of uvloop */
	RUNTIME_LATER = 1 << 8,      /* Node: it has made calls that were left for later */
	RUNTIME_WORKS = 1 << 9,      /* Node: it goes on with what other threads have done, maybe */
	RUNTIME_OBJECTS = 1 << 10,   /* Node: objects have told whose calls are */
	RUNTIME_SHOWABLE = 1 << 11,  /* it has places whose probes are for RUNTIME_SHOWN only */
	RUNTIME_MESSAGES = 1 << 12,  /* Node: one of its threads has posted a request's work */
	RUNTIME_HTTP2 = 1 << 13,     /* streams of HTTP/2 are followed */
};

/* So many makers are asked what a process runs that has read its first request. */
#define RUNTIME_MAKERS 4

/*
 * So often goroutines of a process may change in a second (nearly) and still be published: each
 * time a probe takes one or two microseconds, so that this is some per cent of a CPU.
 */
#define RUNTIME_CHANGES_MAX    20000
#define RUNTIME_CHANGES_SECOND 30 /* log2 of its length in ns */

/* log2 of the seconds, nearly, between two looks at a program that may load what is missing. */
#define RUNTIME_LOOKS_MAX 7 /* a power of two, less one */

/* Map `runtimes`, by tgid. */
struct runtime {
	__u32 kind;    /* enum runtime_kind */
	__u32 flags;   /* enum runtime_flags */
	__u32 changes; /* of what is shown, in `second`; Java: looks at it (enum lacks) */
	__u32 reserved;
	__u64 second; /* the last in which one was seen, on whatever CPU; Java: of the next look */
	union {
		struct runtime_go go;
		struct runtime_python python;
		struct runtime_haproxy haproxy;
		struct runtime_ruby ruby;
		struct runtime_node node;
		struct runtime_java java;
		struct runtime_threads threads;
	};
};
_Static_assert(sizeof(struct runtime) == 280, "runtime is shared");

enum runtime_event_kind {
	RUNTIME_EVENT_LOOK,  /* look at this process; 0: the flags of the node have changed (node.h)
			      */
	RUNTIME_EVENT_GONE,  /* it is gone: so should be what the maps have of it */
	RUNTIME_EVENT_SHARE, /* it has reached its share of a table (share.h); 0: that is full */
};

/* What the ring buffer `runtime_events` carries. */
struct runtime_event {
	__u32 tgid;
	__u32 kind; /* enum runtime_event_kind */
};

#endif
