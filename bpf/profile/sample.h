/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What the sampler and user space have in common: samples, and the tables by which stacks are
 * unwound. Everything here lives as long as one run of the sampler; nothing of it is pinned.
 */
#ifndef CTXPROP_PROFILE_SAMPLE_H
#define CTXPROP_PROFILE_SAMPLE_H

#include <linux/types.h>

#define PROFILE_FRAMES_MAX   127 /* of the kernel, and of user space */
#define PROFILE_PYTHON_MAX   100 /* functions of Python */
#define PROFILE_SLOTS        512 /* room for all of these; a power of two, for the verifier */
#define PROFILE_RING_BYTES   (8U << 20)
#define PROFILE_PROCESSES    1024
#define PROFILE_COMM_SIZE    16  /* TASK_COMM_LEN */
#define PROFILE_MAPPINGS_MAX 128 /* of one process, with code */

_Static_assert(2 * PROFILE_FRAMES_MAX + 2 * PROFILE_PYTHON_MAX <= PROFILE_SLOTS, "all have room");

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
	PROFILE_STOPS,
};

/* Where CPython has what is needed of code objects: the versions that differ. */
enum profile_python {
	PROFILE_PYTHON_NONE,
	PROFILE_PYTHON_3_10, /* and 3.9 */
	PROFILE_PYTHON_3_11,
	PROFILE_PYTHON_3_12, /* and 3.13 */
};

/* PyCodeObject.co_name: the address of a text object. */
#define PROFILE_PYTHON_NAME_3_10 112
#define PROFILE_PYTHON_NAME      120 /* since 3.11 */

/* In the address of code: the outermost function that this call of the interpreter runs. */
#define PROFILE_PYTHON_ENTRY (1ULL << 63)

/* A sample as it stands in the ring; of `frame` only as many as there are. */
struct profile_sample {
	__u64 time_ns; /* CLOCK_BOOTTIME */
	__u64 life;    /* of the program that the process runs: another one after an exec */
	__u32 tgid, tid;
	__u8 trace_id[16], span_id[8]; /* as traces_ctx_v1 has them; all zero: no context */
	char comm[PROFILE_COMM_SIZE];  /* of the thread */
	__u8 kernel_count, user_count, stop;
	__u8 python_count, python_layout; /* enum profile_python */
	__u8 padding[3];
	/*
	 * Addresses; the kernel's first, the innermost first. Those of user space are in the
	 * instruction that runs or has called. Then functions of Python, the innermost first, two
	 * words each: the address of their code object, and that of its name, by which it is told
	 * from another one that comes to lie there.
	 */
	__u64 frame[PROFILE_SLOTS];
};

/* How the canonical frame address (CFA: the stack pointer before the call) is got. */
enum profile_cfa {
	PROFILE_CFA_UNKNOWN, /* the rule is not understood, or there is none */
	PROFILE_CFA_SP,      /* rsp + 8 * offset */
	PROFILE_CFA_BP,      /* rbp + 8 * offset */
	PROFILE_CFA_LOAD,    /* what stands at rsp + 8 * offset, and 8 more: OpenSSL's assembly */
	PROFILE_CFA_PLT,     /* rsp + 8 * offset, and 8 more from byte `rbp` of each 16 on */
	PROFILE_CFA_SIGNAL,  /* a signal frame of the kernel at rsp */
	PROFILE_CFA_END,     /* the outermost frame */
};

/*
 * A rule that holds from `pc` to the next row's. The return address stands at CFA - 8, as the ABI
 * of x86-64 wants it.
 */
struct profile_row {
	__u32 pc;     /* from the start of the table */
	__u16 offset; /* in 8 bytes */
	__u8 cfa;     /* enum profile_cfa */
	__u8 rbp;     /* saved at CFA - 8 * rbp; 0: as it is */
};

/* A file's code where a process has mapped it. */
struct profile_mapping {
	__u64 start, end;
	__u64 bias;          /* address in the process - address in the table */
	__u32 first;         /* row of its table */
	__u32 count;         /* 0: no table */
	__u8 frame_pointers; /* its compiler always keeps them: Go */
	__u8 padding[7];
};

struct profile_process {
	__u64 life; /* for which the mappings hold */
	__u32 count, padding;
	struct profile_mapping mapping[PROFILE_MAPPINGS_MAX]; /* by address */
};

#endif
