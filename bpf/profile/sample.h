/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Shared by the sampler and user space: samples, and the tables by which stacks are unwound. All of
 * it lives as long as one run of the sampler; nothing is pinned.
 */
#ifndef CTXPROP_PROFILE_SAMPLE_H
#define CTXPROP_PROFILE_SAMPLE_H

#include <linux/types.h>

#include "profile/threads.h"

#define PROFILE_FRAMES_MAX   127  /* of the kernel, and of user space */
#define PROFILE_NAMED_MAX    250  /* functions of a runtime that has a stack of its own */
#define PROFILE_SLOTS        2048 /* room for all of these; a power of two, for the verifier */
#define PROFILE_RING_BYTES   (8U << 20)
#define PROFILE_PROCESSES    1024
#define PROFILE_COMM_SIZE    16  /* TASK_COMM_LEN */
#define PROFILE_MAPPINGS_MAX 128 /* of one process, with code */

_Static_assert(5 * PROFILE_FRAMES_MAX + 2 * PROFILE_NAMED_MAX +
		       PROFILE_LABELS_TAKEN * PROFILE_LABEL_WORDS <=
		   PROFILE_SLOTS,
	       "all have room");

/* Why a user stack ends where it does. */
enum profile_stop {
	PROFILE_STOP_NONE,    /* it has no user stack: a kernel thread */
	PROFILE_STOP_END,     /* the whole stack */
	PROFILE_STOP_DEEP,    /* PROFILE_FRAMES_MAX frames */
	PROFILE_STOP_PROCESS, /* the process is not known yet */
	PROFILE_STOP_MAPPING, /* code in no known mapping */
	PROFILE_STOP_TABLE,   /* a file without unwind table */
	PROFILE_STOP_ROW,     /* no rule for this address, or one that is not understood */
	PROFILE_STOP_READ,    /* the stack could not be read, or leads nowhere */
	PROFILE_STOP_SWITCH,  /* the runtime is about to exchange it for another one */
	PROFILE_STOPS,
};

/* Kinds of records in the ring. */
enum profile_kind {
	PROFILE_ON_CPU, /* a CPU runs the thread */
	PROFILE_WAIT,   /* the thread begins to wait, at `time_ns` */
	PROFILE_WAITED, /* the wait that has begun at `time_ns` is over; there are no frames */
};

/* What a thread that is off the CPU waits for. */
enum profile_wait {
	PROFILE_BLOCKED,   /* until it is woken */
	PROFILE_RUN_QUEUE, /* for a CPU */
	PROFILE_WAITS,
};

/*
 * A function whose name the runtime knows is two words: the address of its code object, and a check
 * word that changes when another object is allocated there. What they are, only the runtime's
 * folder knows (runtimes/names.h).
 */
#define PROFILE_FRAME_NAMED (1ULL << 63) /* among frames: a pair begins, this is its address */
/*
 * In such an address: the pair stands for the functions that are inlined into the one of the next
 * pair. If there are none, or they are not known, the pair is no frame.
 */
#define PROFILE_FRAME_INNER (1ULL << 62)
#define PROFILE_NAMED_ENTRY                                                                        \
	(1ULL << 63) /* behind them: the outermost function of one call of the                     \
			interpreter */

/* A record in the ring; `frame` has as many elements as are used. */
struct profile_sample {
	__u64 time_ns; /* CLOCK_BOOTTIME */
	__u64 life;    /* of the program that the process runs: another one after an exec */
	__u64 waited_ns[PROFILE_WAITS]; /* of PROFILE_WAITED */
	__u32 tgid, tid;
	__u32 kind; /* enum profile_kind; PROFILE_WAITED has time_ns, tgid and tid only */
	__u32 padding;
	__u8 trace_id[16], span_id[8];  /* in wire order; all zero: no context */
	__u8 request_span[8];           /* that of traces_ctx_v1 in that trace, else span_id */
	char comm[PROFILE_COMM_SIZE];   /* of the thread */
	__u16 kernel_count, user_count; /* words of `frame` */
	__u8 named_count;               /* pairs of words behind them */
	__u8 named_kind;                /* enum runtime_kind: whose functions all pairs are */
	__u8 named_layout;              /* means what that runtime wants */
	__u8 stop;                      /* enum profile_stop */
	__u8 context_source;            /* enum profile_source: whose ids they are */
	__u8 context_conflict;          /* 1: another source names another trace */
	__u8 label_count;
	__u8 labels_left_out; /* 1: there are more of them */
	__u8 evidence; /* enum evidence by which the engine names the request; 0: it does not */
	__u8 veto;     /* enum veto: why it does not */
	__u8 serves;   /* 1: the process has read requests */
	__u8
	    followed; /* 1: request_span is of a request that the engine knows to be the thread's */
	__u8 reserved[4];
	/*
	 * Addresses; the kernel's first, the innermost first. Those of user space are in the
	 * instruction that runs or has called; where a runtime has compiled the code it is a pair
	 * (PROFILE_FRAME_NAMED). Then, of a runtime with a stack of its own, its functions, the
	 * innermost first, in pairs. Then labels, each a struct profile_label.
	 */
	__u64 frame[PROFILE_SLOTS + PROFILE_LABEL_WORDS]; /* a label may begin in the last slot */
};

/* How the canonical frame address (CFA: the stack pointer before the call) is computed. */
enum profile_cfa {
	PROFILE_CFA_UNKNOWN, /* the rule is not understood, or there is none */
	PROFILE_CFA_SP,      /* rsp + 8 * offset */
	PROFILE_CFA_BP,      /* rbp + 8 * offset */
	PROFILE_CFA_LOAD,    /* what stands at rsp + 8 * offset, and 8 more: OpenSSL's assembly */
	PROFILE_CFA_PLT,     /* rsp + 8 * offset, and 8 more from byte `rbp` of each 16 on */
	PROFILE_CFA_SIGNAL,  /* a signal frame of the kernel at rsp */
	PROFILE_CFA_END,     /* the outermost frame */
	PROFILE_CFA_POINTER, /* rbp + 16, whatever `offset` is: code that keeps frame pointers */
};

/* A rule that holds from `pc` to the next row's. The return address is at CFA - 8 (x86-64 ABI). */
struct profile_row {
	__u32 pc;     /* from the start of the table */
	__u16 offset; /* in 8 bytes */
	__u8 cfa;     /* enum profile_cfa */
	__u8 rbp;     /* saved at CFA - 8 * rbp; 0: as it is */
};

#define PROFILE_PAGE_SHIFT 10 /* a page of the index has 1 KiB of addresses */

/* The rows of a page: numbers from `low` to before `high`. */
struct profile_page {
	__u32 low, high;
};

/* The rows of one file, and the index that narrows the search among them. */
struct profile_table {
	__u32 first; /* row */
	__u32 count; /* 0: there is no table */
	__u32 page;  /* the first one of the index */
	__u32 pages; /* from the table's address 0 on; 0: there is no index */
};

/* A mapping of a file's code in a process. */
struct profile_mapping {
	__u64 start, end;
	__u64 bias; /* address in the process - address in the table */
	struct profile_table table;
	__u8 frame_pointers; /* its compiler always keeps them: Go */
	__u8 padding[7];
};

struct profile_process {
	__u64 life;    /* for which the mappings hold */
	__u64 edition; /* of no other set of mappings, of any process; not 0 */
	__u32 count, padding;
	struct profile_mapping mapping[PROFILE_MAPPINGS_MAX]; /* by address */
};

#endif
