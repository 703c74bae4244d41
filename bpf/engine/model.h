/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Who works on what: the things that the packet programs, the probes and user space share.
 *
 *   request   an incoming request, from the moment its head has arrived until its response is sent
 *   socket    one end of a TCP connection: requests that have arrived on it, calls that went out
 *   call      an outgoing request, or any other bytes sent to a peer that is to answer
 *   worker    a thread, in Go a goroutine, in Python's asyncio the context of a task
 *   process   all workers of one program
 *
 * A request is named by the id of its server span, drawn when it arrives; 0 names none. Times
 * are CLOCK_MONOTONIC in ns. Sequence numbers are those of the socket (host byte order).
 */
#ifndef CTXPROP_ENGINE_MODEL_H
#define CTXPROP_ENGINE_MODEL_H

#include <linux/types.h>
#include "engine/record.h"

/* What traceparent says, and whether a tracestate goes with it. */
struct span_context {
	__u8 trace_id[16] __attribute__((aligned(8)));
	__u8 span_id[8];
	__u8 flags;      /* trace-flags */
	__u8 tracestate; /* 1: map `tracestates` has one for this span */
	__u8 reserved[6];
};
_Static_assert(sizeof(struct span_context) == 32, "span_context is shared");

/* Which rule named the cause of a call (rows of ctxprop stats, in this order of rank). */
#define CTXPROP_EVIDENCE(X)                                                                        \
	X(NONE, "none", "nothing is known: a new trace")                                           \
	X(OWN, "own", "the program's own traceparent")                                             \
	X(GOROUTINE, "goroutine", "the goroutine, or the one that started it")                     \
	X(TASK, "task",                                                                            \
	  "the task of an event loop, the stream of HAProxy, or what came out of a queue")         \
	X(THREAD, "thread", "the thread that read the request")                                    \
	X(LOOP, "loop", "what the event loop has read last")                                       \
	X(ANSWER, "answer", "the answer to another call of the same request")                      \
	X(CONNECT, "connect", "the connection was opened for the request")                         \
	X(FORK, "fork", "the process or thread was made for the request")                          \
	X(WAKE, "wake", "the worker was woken for the request")                                    \
	X(PEER, "peer", "bytes from another process of this host")                                 \
	X(REQUEST_ID, "request-id", "the program copies the request's x-request-id")               \
	X(OBJECT, "object",                                                                        \
	  "an object of the program: of the connection, or of who waits for the answer or "        \
	  "made it")                                                                               \
	X(WORK, "work", "work that another thread did for the request (Node)")

/* Why a call has no cause although something was in hand. */
#define CTXPROP_VETO(X)                                                                            \
	X(NONE, "none", "there was no veto")                                                       \
	X(IDLE_LOOP, "other-idle-loop", "the event loop has other requests that could call")       \
	X(IDLE_PROCESS, "other-idle-process", "the process has other requests that could call")    \
	X(NO_EVIDENCE, "no-evidence", "requests are open, but nothing names one of them")          \
	X(SPENT, "spent", "the evidence has been used by an earlier call")                         \
	X(OWN_PATH, "own-path", "the loop makes calls of its own on the same path")                \
	X(NEW_PATH, "new-path",                                                                    \
	  "the loop makes calls of its own, and may be doing so on this path")                     \
	X(ENDED, "ended", "the request that the evidence names is over")                           \
	X(DISAGREE, "disagree", "the program names another request than the evidence does")        \
	X(SAME_TURN, "other-in-turn",                                                              \
	  "the event loop has read others' in this turn, too, and may call for these first")       \
	X(RUNTIME, "runtime-unknown", "it is not known what the program runs")                     \
	X(SHARE, "share", "the process has reached its share of the table of workers")             \
	X(TASKS, "tasks",                                                                          \
	  "tasks take turns inside its threads (tokio, Erlang), and others than the one that is "  \
	  "named may call")

#define CTXPROP_EVIDENCE_ENUM(id, name, text) EVIDENCE_##id,
enum evidence { CTXPROP_EVIDENCE(CTXPROP_EVIDENCE_ENUM) EVIDENCE_COUNT };
#undef CTXPROP_EVIDENCE_ENUM
#define CTXPROP_VETO_ENUM(id, name, text) VETO_##id,
enum veto { CTXPROP_VETO(CTXPROP_VETO_ENUM) VETO_COUNT };
#undef CTXPROP_VETO_ENUM

/*
 * A thread: tid, context 0. An execution context of a runtime, as a goroutine or the context of a
 * task of Python: its address or number, tid 0. Ids of the initial pid namespace.
 */
struct worker_key {
	__u32 tgid;
	__u32 tid;
	__u64 context;
};
_Static_assert(sizeof(struct worker_key) == 16, "worker_key is shared");

static inline int worker_key_is(const struct worker_key *a, const struct worker_key *b)
{
	return a->tgid == b->tgid && a->tid == b->tid && a->context == b->context;
}

enum request_flags {
	REQUEST_ROOT = 1 << 2, /* it brought no valid traceparent: the trace begins here */
	REQUEST_PEER =
	    1 << 3, /* no HTTP: parent_id is the request of another process of the host */
	REQUEST_WOKE = 1 << 4,    /* who read it has woken a task of Python for it */
	REQUEST_ADOPTED = 1 << 5, /* map `adopted` may say to which trace it belongs instead */
	REQUEST_GIVEN = 1 << 6,   /* who read it has made a task of Python for it */
	REQUEST_SERVED = 1 << 7,  /* another request's worker may have called for it (inherit.h) */
	REQUEST_CALLED = 1 << 8,  /* a worker of its own has called, for whichever request */
	REQUEST_OBJECT = 1 << 9,  /* it is known which object in memory stands for it (objects.h) */
	REQUEST_LINGERS = 1 << 16, /* from here on: how many of its calls linger (call_limit.h) */
};

/*
 * Map `requests` is an array: a request stands at the place that its id says, or nowhere. An id
 * is drawn until its place is free, so nothing is searched and nothing is locked. Made and ended
 * by the packet programs.
 */
struct request {
	__u64 id;                    /* the span id; 0: the place is free */
	struct span_context context; /* of the server span */
	__u8 parent_id[8];           /* span that the caller named; zero for a root */
	struct worker_key worker;    /* who took it up */
	/* Process and thread at once, as a worker_key begins; 0: none. */
	__u64 helper_thread; /* one that got work of it, and is shown with it */
	__u64 shown_thread;  /* one that is shown with it for a step (account.h) */
	__u64 arrived_ns;    /* its head was complete, to a tick of the clock (a few ms) */
	__u64 taken_ns;      /* its first byte was read, the same; not before that */
	__u32 flags;         /* enum request_flags */
	__u32 state;         /* see engine/tally.h; zero when it arrives */
	__u16 calls;         /* attributed to it in all */
	__u8 listed;         /* where in map `request_ids`, since it was taken */
	__u8 untold;         /* 1: no record was made of it (records.h), so none of its end is */
	__u32 netns;         /* as in struct flow_key */
	__u64 peer;          /* the request of another process that it began last; or 0 */
	__u64 request_id;    /* number of its x-request-id (request_id.h); 0: none */
	__u32 from;          /* a number for the address that it came from */
	__u32 reserved;
};
_Static_assert(sizeof(struct request) == 136, "request is shared");

#define REQUEST_PLACE_BITS 16

/* The one place in the map for a request of this id. */
static inline __u32 request_place(__u64 id)
{
	return id >> (64 - REQUEST_PLACE_BITS);
}

/*
 * Ids that are drawn at most until one's place is free: with a quarter of all places taken, one
 * request in four thousand millions is not followed.
 */
#define REQUEST_DRAWS 24

/*
 * The id that the n-th draw makes of a random number. As long as few requests are open they share
 * few places, which stay in the caches.
 */
static inline __u64 request_drawn(__u64 random, __u32 n)
{
	__u32 bits = n < 4 ? 6 : n < 8 ? 10 : REQUEST_PLACE_BITS;
	__u64 place = random >> (64 - bits);

	return place << (64 - REQUEST_PLACE_BITS) |
	       random << REQUEST_PLACE_BITS >> REQUEST_PLACE_BITS | 1;
}

/* One incoming request on its way from the packets to the worker that reads it. */
struct arrival {
	__u64 request; /* key of map `requests` */
	__u32 seq;     /* number of its first byte */
	__u32 inbox;   /* low half of the id of the inbox that it was meant for */
};

/* An outgoing request as the probes see it: bytes that begin an exchange on a client socket. */
struct call {
	struct span_context cause; /* of the request that it belongs to; trace id 0: none */
	__u64 request;             /* that request, or 0 */
	__u32 seq;                 /* socket's number of its first byte */
	__u8 evidence;             /* enum evidence */
	__u8 veto;                 /* enum veto */
	__u8 outstanding;          /* 1: no byte of an answer was read yet */
	__u8 counted;              /* 1: among the caller's unattributed calls (engine/tally.h) */
	__u32 tgid;
	__u32 tid;
	__u8 is_http;  /* 1: a head of HTTP began with it, as the packet programs have seen */
	__u8 reads;    /* what its loop had read by then (struct worker) */
	__u8 is_among; /* 1: Node: others might have asked for it (runtimes/node/later.h) */
	__u8 reserved;
	__u32 number; /* struct process.number of that process; 0: it had no entry */
};

#define SOCKET_ARRIVALS 8 /* powers of two */
#define SOCKET_CALLS    4

/*
 * A ring of arrivals: indices count up for ever, a slot is index & (size-1). The packet programs
 * write at `end` (inbound softirq), the probes take at `first` (a reader).
 *
 * Map `inboxes` is an array: an inbox stands at the place that its id says (inbox_place()), for as
 * long as its socket is open. The packet programs know the id by the flow, and need not look for
 * the socket of each request.
 */
struct inbox {
	__u64 id; /* 0: the place is free; of the one within a socket: not used */
	__u32 first;
	__u32 end;
	struct arrival arrival[SOCKET_ARRIVALS];
};
_Static_assert(sizeof(struct inbox) == 144, "inbox is shared");

#define INBOX_PLACE_BITS 14

static inline __u32 inbox_place(__u64 id)
{
	return id >> (64 - INBOX_PLACE_BITS);
}

/* The id of an inbox that a random number stands for: never INBOX_NONE or INBOX_OWN. */
static inline __u64 inbox_id(__u64 random)
{
	return random | 2;
}

/* struct socket.inbox: neither is an id. */
#define INBOX_NONE 0ULL /* nothing has arrived yet */
#define INBOX_OWN  1ULL /* there was no place for one: arrivals are in the socket's own */

enum socket_flags {
	SOCKET_CLIENT = 1 << 0, /* this side connected */
	SOCKET_SERVER = 1 << 1, /* this side accepted */
	SOCKET_PEER = 1 << 4,   /* between two processes of this host (engine/peer.h) */
	SOCKET_OPAQUE = 1 << 5, /* SOCKET_PEER: what belongs to which request cannot be told */
	SOCKET_OLDER = 1 << 6,  /* it was there before the probes: whose it is, nobody saw */
	SOCKET_TASKS = 1 << 7,  /* server: a context of Python has read from it, HAProxy, or Ruby */
	/* client: who has read a request and sends on it may send another one's call: clients that
	   have a list of calls give the next one to whoever comes by */
	SOCKET_LIST = 1 << 8,
	SOCKET_SHARED = 1 << 9,  /* client: several requests wait for answers on it (shared.h) */
	SOCKET_ASKS = 1 << 10,   /* and whoever sends something on it does */
	SOCKET_DROPS = 1 << 11,  /* and some do not wait */
	SOCKET_LATER = 1 << 12,  /* server: its reader is Node, and leaves calls for later */
	SOCKET_BLOCKS = 1 << 13, /* server: a thread has read from it that waits for what comes */
	/* client: objects told the same of a call when it was sent and when its answer came */
	SOCKET_KEPT = 1 << 14,
};

enum purpose_flags {
	PURPOSE_CONNECTING = 1 << 0, /* `request` counts this connect as its own */
	PURPOSE_COUNTED = 1 << 1,    /* it is among the unattributed calls of `by` */
	PURPOSE_CALL_LIMIT = 1 << 3, /* the call limit of `by` counts it (call_limit.h) */
	PURPOSE_APART = 1 << 2,      /* begun by a loop, not for what it had read (PHASE_APART) */
};

/* What a connection is opened for, as it was decided when that began. */
struct purpose {
	__u64 request; /* 0: for none, or for none that is known */
	struct worker_key by;
	__u32 answers; /* those of the process (engine/worker.h) at that moment */
	__u32 doubtful;
	__u8 flags; /* enum purpose_flags */
	__u8 veto;  /* enum veto: why it is not known what for */
	__u8 reserved[2];
	__u32 asked;  /* number of it among those that Node has asked for (call_limit.h); 0: it is
			 none */
	__u32 number; /* struct process.number of that process; 0: it had no entry */
	__u32 reads;  /* struct process.reads of it at that moment */
};
_Static_assert(sizeof(struct purpose) == 48, "purpose is shared");

/*
 * Map `sockets`: BPF_MAP_TYPE_SK_STORAGE. Indices count up for ever; a slot is index & (size-1).
 * The probes write calls at calls_end (a sender), the packet programs read them (outbound).
 */
struct socket {
	__u32 flags; /* enum socket_flags */
	__u32 calls_end;
	__u64 inbox;            /* id of its inbox, INBOX_NONE or INBOX_OWN */
	__u64 serving;          /* server: request that was taken from here last */
	struct purpose purpose; /* client */
	struct inbox own;       /* what other processes of the host have left here, or INBOX_OWN */
	struct call call[SOCKET_CALLS];
	__u64 responding;  /* server: request whose response was begun last */
	__u32 client_only; /* client: the last call had no cause when newcomers were this less one;
			      or 0 */
	__u32 client_only_path; /* it came on */
	__u32 taken;            /* server: requests that were read from it */
	__u32 plain;      /* its reader has no runtime, when newcomers were this less one; or 0 */
	__u32 call_limit; /* client: how its last call is counted (call_limit.h); 0: it is not */
	__u32 reserved_limit;
	/*
	 * Client: what objects of the program told when the last call was sent (objects.h): a
	 * request, OBJECTS_NO_REQUEST, or 0: nothing, or it was looked at again; and how that was
	 * found.
	 */
	__u64 told;
	__u32 told_shape;
	__u32 reserved_told;
	struct record record; /* for those who look at the connection */
};

static inline struct call *socket_last_call(struct socket *s)
{
	return s->calls_end ? &s->call[(s->calls_end - 1) & (SOCKET_CALLS - 1)] : 0;
}

#endif
