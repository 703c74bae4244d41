/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What is known of a worker and of a process; see model.h for the words. */
#ifndef CTXPROP_ENGINE_WORKER_H
#define CTXPROP_ENGINE_WORKER_H

#include "engine/model.h"
#include "engine/path.h"
#include "engine/rules.h"
#include "engine/share.h"
#include "engine/tally.h"

#define WORKER_HELD      4 /* a power of two */
#define WORKER_SAME_TURN 4 /* the same */

enum worker_flags {
	WORKER_LOOP = 1 << 0,   /* its requests come from sockets that it watches by epoll */
	WORKER_SPENT = 1 << 1,  /* what it read last was named by a call that got a veto */
	WORKER_UNSURE = 1 << 2, /* what it read last was the answer to such a call */
	WORKER_MAYBE = 1 << 3, /* they come from sockets that do not block, whoever watches those */
	WORKER_CALLED = 1 << 4,  /* it has made calls since it took something out of a queue */
	WORKER_PUT = 1 << 5,     /* it has put something into one since then */
	WORKER_GOES_ON = 1 << 6, /* and something was called that may be for that one's request */
	WORKER_FREE =
	    1 << 7, /* it was an answer, and nobody waits for his turn then (call_limit.h) */
	WORKER_LATER = 1 << 8,     /* Node: what it leaves for later is followed (later.h) */
	WORKER_ASKED = 1 << 9,     /* it has begun a call or connect since it read something */
	WORKER_SURE = 1 << 10,     /* and that was for what it had read */
	WORKER_OTHERS = 1 << 11,   /* in this turn it has read something for other requests, too */
	WORKER_UNCLEAR = 1 << 12,  /* for one that may call yet, since the last call */
	WORKER_GATHERS = 1 << 13,  /* and that seems to wait for nothing */
	WORKER_GATHERED = 1 << 14, /* it has read for several, and called then, once at least */
	WORKER_ROOM = 1 << 15,     /* what it read last was an answer, and makes room for others */
	/* It has woken who has the request that it was made for, or has taken something for. */
	WORKER_DONE = 1 << 16,
	WORKER_TOLD = 1 << 17,  /* it has called, and has woken who has another request then */
	WORKER_AMONG = 1 << 18, /* Node: others might have asked for what it is at (later.h) */
	WORKER_TRIED = 1 << 19, /* it has read the answer to a call that began like that */
	/* It has read for something else, too, since it slept last (tasks.h). */
	WORKER_MIXED = 1 << 20,
	/* Node: another thread has posted a request's work to it (work.h). */
	WORKER_POSTED = 1 << 21,
	/* It has not called, and has woken who has the request of what it took out of a queue. */
	WORKER_SAID = 1 << 22,
};

/*
 * Does a loop read the socket at hand? Some read once before they let epoll watch it. Where several
 * threads have epoll tell of it only once at a time, any of them may go on with what was read.
 */
enum actor_loop { ACTOR_BLOCKS, ACTOR_LOOP_MAYBE, ACTOR_LOOP, ACTOR_LOOP_ANY };

/*
 * When something was read, as far as it tells whether a loop is still at it. A loop goes back to
 * epoll_wait() in between; that takes its item off the list of ready ones (unless the item is
 * edge-triggered), and mostly it blocks, which counts a switch.
 */
struct turn {
	__u64 item;     /* address of the socket's item in the epoll set; 0: edge-triggered */
	__u32 switches; /* voluntary context switches of the thread */
	__u32 file;     /* a number for the file that the item is of */
};

/* Values of worker.called_back */
enum called_back {
	CALLED_BACK_NOT,
	CALLED_BACK_TO_READ, /* for what was read */
	CALLED_BACK_AGAIN,   /* and for something else by now */
	CALLED_BACK_SEVERAL, /* not yet; then for several requests, which were read at once */
};

/* Written by the worker itself, save tally (everybody) and inherited (who wakes it). */
struct worker {
	struct tally tally;
	__u32 flags;             /* enum worker_flags */
	__u32 taken;             /* requests taken up; the slot of the next is taken & (size-1) */
	__u64 held[WORKER_HELD]; /* the last of them */
	__u64 read;              /* the request that its last read was for; 0: not known */
	__u64 made_for;          /* the request of the worker that made it; 0: it had none */
	__u64 inherited;         /* the request that made it, or woke it up; 0: none */
	__u64 queue;             /* address of the queue (queue.h) that it took something from */
	/*
	 * What it took: an address, too. HAProxy: see runtimes/haproxy/stream.bpf.h. Node: libuv's
	 * handle of the connection that it is about to open.
	 */
	__u64 item;
	__u64 published;    /* the request that traces_ctx_v1 shows for it */
	struct turn turn;   /* of `read` */
	__u8 read_by;       /* EVIDENCE_LOOP: the request itself, EVIDENCE_ANSWER: an answer */
	__u8 inherited_by;  /* EVIDENCE_FORK, EVIDENCE_WAKE or EVIDENCE_TASK */
	__u8 fresh;         /* requests read in this turn that were not handed over yet */
	__u8 called_back;   /* enum called_back: by libuv, since `read` */
	__u32 published_on; /* a goroutine's thread that `published` is shown for */
	struct paths paths; /* of a loop's calls */
	__u32 counted;      /* `taken`, when a call or connect was last counted as unattributed */
	__u32 before;       /* `flags`, before its last read; see later.h */
	__u32 maker;        /* process of the worker that made it for a request; 0: its own */
	__u32 maker_number; /* struct process.number of that one */
	struct share_taken share;
	__u32 same_turns; /* requests that were read in the turn of `read` before it, see
			     same_turn.h */
	__u64 same_turn[WORKER_SAME_TURN]; /* the first of them */
	__u64 reads;                       /* how often it has read something */
};

/* Node: work of another thread's that a loop goes on with (work.h): map `work_done`, by thread. */
struct work {
	__u64 request; /* for which it was given, for certain; or 0 */
	__u64 stack;   /* where the stack of who goes on with it begins (0: it is a message), */
	__u64 returns; /* and what stands there: the address that it returns to */
};

#define CALL_LIMIT_PEERS 4
#define CALL_LIMIT_FIRST 8 /* a power of two */

/*
 * A moment, and how many calls were under way at it for certain. Those whose connections had been
 * asked for by then are counted when they begin: else it is not known whether anything comes of it.
 */
struct call_limit_moment {
	__u32 asked; /* struct call_limit.asked */
	__u32 calls;
	__u32
	    pending; /* connections without a call, to any peer: so many more calls there may be */
};

struct call_limit_peer {
	__u32 peer; /* a number for its address and port; 0: the place is free */
	__u32 busy; /* calls that no byte of an answer was read of */
	__u32 most; /* so many there were once, at least */
	struct call_limit_moment moment;
};

/* The calls of a loop that are outstanding at a time; see call_limit.h. */
struct call_limit {
	__u64 first[CALL_LIMIT_FIRST]; /* requests that have begun their first call; or 0 */
	__u32 firsts;                  /* entries ever made */
	__u32 began;      /* the peer that was called last, if no answer was read since; or 0 */
	__u32 tid;        /* the loop; 0: none has called */
	__u32 busy, most; /* of all peers */
	__s32 lingering;  /* calls whose answers may go on */
	__u32 round;      /* how often all of these were forgotten */
	__u32 opening;    /* connections that were asked for, and had no call yet */
	__u32 asked;      /* number of the last one that Node has asked for; 0: none */
	struct call_limit_moment moment;
	__u32 answered; /* calls of which the answer has begun in this turn of the loop */
	__u32 gone;     /* calls that have ceased to linger in it */
	__u32 closed;   /* connections that were closed in it: who waits gets his when it ends */
	struct call_limit_peer peer[CALL_LIMIT_PEERS];
	__u32 shared; /* 1: another thread has called, too */
};

/* How often something was seen to be done as a habit says (rules.h), and how often otherwise. */
struct habit {
	__u32 kept;
	__u32 broken;
};

struct process {
	struct tally tally;
	struct habit habit[HABIT_COUNT];
	struct own_paths own; /* of calls made while it had no requests */
	__u32 answers;        /* answers read: each may have freed a connection */
	__u32 doubtful; /* calls on freed connections that others might have been waiting for */
	__u8 served;    /* requests that it has read, up to PROCESS_SERVED */
	__u8 runtime;   /* enum runtime_kind that its habits were learnt with */
	/* 1: it has read requests before it was known by whom, and some request was open since */
	__u8 early;
	__u8 reserved;
	__u32 objects; /* open requests for which objects of the program stand (REQUEST_OBJECT) */
	/* Bit (peer's port & 63): habit `single-use` is broken there. */
	__u64 single_use_broken;
	struct call_limit call_limit;
	struct share workers; /* of the table of workers */
	__u32 number;         /* tells it from others that have its id before or after it; not 0 */
	__u32 reads;          /* requests that it has read in all */
	__u64 cgroup;         /* that it counts for (share.h); 0: for none */
	__u64 given;          /* address of the one socket that it serves (given.h); 0: it may serve
				 others */
	__u64 given_ns;       /* when it read its first request there */
};

/* log2 of the ns that tell two processes apart which have the same id one after the other. */
#define PROCESS_NUMBER_SHIFT 10

/*
 * A process has at most so many of the table of workers: an eighth of it. Where the table was
 * halved (struct node), so is this, and the next.
 */
#define PROCESS_WORKERS 4096

/* From so many on, goroutines and the like have an entry for as long as they have a request. */
#define PROCESS_WORKERS_KEPT 1024

/* By then a program has loaded what it needs to serve. */
#define PROCESS_SERVED 16

/*
 * Habit `serves-own`: workers do all that waits in a list, whoever has put it there, once a request
 * seems to have been served like that. So much that weighs against one that was not: for 4 of
 * these, and at most 64. After so many that were not, and none that was, they do none of that.
 */
#define SERVES_OWN_WEIGHT 4
#define SERVES_OWN_MOST   64
#define SERVES_OWN_SURE   16

#endif
