/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the probes keep of programs in more than one runtime. */
#ifndef CTXPROP_RUNTIMES_COMMON_H
#define CTXPROP_RUNTIMES_COMMON_H

#include "engine/model.h"

/* Addresses of a function: its first, and that behind it. */
struct runtime_range {
	__u64 start, end;
};

/* Could another request be meant than the one that a runtime names? */
enum doubt {
	DOUBT_NONE,
	DOUBT_OTHERS, /* yes: it is believed only while no other one could call */
	DOUBT_ALL,    /* any: it is believed only while no other one is open */
};

/* A request that a runtime names. */
struct named {
	__u64 request;  /* 0: none */
	__u32 doubtful; /* enum doubt */
	__u32 own;      /* 1: none for certain, the program does it of its own accord */
};

/* Addresses of one process. */
struct process_address {
	__u32 tgid;
	__u32 reserved; /* 0 */
	__u64 address;
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
	TASK_RULE_CLIENT = 6, /* Java: who begins a call of java.net.http's client waits for it */
	TASK_RULE_KEPT =
	    7, /* tasks made for a request, whether they call or not, are over before it */
	TASK_RULE_END,
};

enum goroutine_flags {
	GOROUTINE_CALLED = 1 << 0,   /* it has made calls */
	GOROUTINE_DOUBTFUL = 1 << 1, /* who started it may have done so for another request */
	GOROUTINE_SENT = 1 << 2,     /* it has sent messages since it was handed something */
	GOROUTINE_STARTED = 1 << 3,  /* it has started others since then */
	GOROUTINE_TOLD = 1 << 4,     /* it has told who waits for that that it is done */
	GOROUTINE_DIALS = 1 << 5, /* it connects: whom it hands that to is not who asked for it */
	GOROUTINE_ENDED = 1 << 6, /* it has closed a channel, or left a group, since then */
};

/*
 * Map `goroutines`, greenlets of Python among them: what is known of one beside what any worker has
 * (map `workers`). A goroutine's memory is used again, so an entry is written anew when a goroutine
 * starts.
 */
struct goroutine {
	__u64 inherited;     /* request of the one that started it */
	__u64 start;         /* address that it began at; of a greenlet a number, 0 at first */
	struct named handed; /* with the last message that it has received; good for one call */
	/*
	 * Goroutine that it does a part of the work of. Of a greenlet, where its maker began, if
	 * that has read no request: the address of a function's code.
	 */
	__u64 serves;
	__u64 connection; /* of net/http's client, which it reads or writes for others */
	__u32 flags;      /* enum goroutine_flags */
	__s32 one_by_one; /* see GOROUTINE_ONE_BY_ONE; below 0: what it is handed is not believed */
};

/* The request that a goroutine was handed, as far as that is believed; 0: none. */
static inline __u64 goroutine_has(const struct goroutine *goroutine)
{
	return goroutine->one_by_one < 0 ? 0 : goroutine->handed.request;
}

/*
 * Map `arguments`, by the address of an object: who was given it
 * with a job last: of an executor of
 * Python, of a thread of Java.
 */
struct argument {
	__u64 request; /* the job was put in for this */
	__u32 tid;     /* of the thread that was at it */
	__u32 reserved;
};

enum object_item {
	OBJECT_CONNECTION,
	OBJECT_ITEM,     /* out of a queue, or a part of one */
	OBJECT_TUPLE,    /* Python: only as long as it has such parts */
	OBJECT_LIST,     /* Python: the same */
	OBJECT_PROTOCOL, /* Python: `request` is its transport's address, `tid` of its type's */
};

/*
 * Map `objects`: the request that was read from an object of a program last (Ruby: a connection;
 * Node: the kernel's socket), or that it was taken out of a queue for, as an item or as a part of
 * one (Ruby, Python).
 */
struct object {
	__u64 request;
	__u8 shared; /* 1: others were open meanwhile: it stands for none of them */
	__u8 item;   /* enum object_item */
	__u16 reserved;
	union {
		__u32 tid;        /* Python: of the thread that has taken it out */
		__u32 descriptor; /* C: that stands in it */
	};
};

#endif
