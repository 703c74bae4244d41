/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, gathered: equal ones are counted together, and frames stand for code, not addresses. */
#ifndef CTXPROP_PROFILE_TAKE_SAMPLES_H
#define CTXPROP_PROFILE_TAKE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "profile/message/servers.h"
#include "profile/names/runtime_functions.h"
#include "profile/take/labels.h"
#include "profile/take/processes.h"

/*
 * A frame as a number: an address of the kernel; or a file (files.h) and the address in it; or,
 * with no file, memory whose code has no name here.
 */
#define FRAME_KERNEL        (1ULL << 63)
#define FRAME_OF_FILE(file) ((__u64)((file) + 1) << 32)
#define FRAME_FILE(frame)   ((int)((frame) >> 32) - 1) /* -1: none */
#define FRAME_UNKNOWN       0ULL
#define FRAME_NAMED         (1ULL << 62) /* and the number of a text (runtime_functions.h) */
#define FRAME_ENTRY         (1ULL << 61) /* of these: the outermost one of a call of the interpreter */

/* Kernel addresses have all of these bits. */
static inline bool frame_is_named(__u64 frame)
{
	return (frame & (FRAME_KERNEL | FRAME_NAMED)) == FRAME_NAMED;
}

struct requests;
struct profiled_request;

/* So many of the same. */
struct stack {
	__u64 count;                    /* of samples on the CPU */
	__u64 waited_ns[PROFILE_WAITS]; /* in waits that have begun here */
	__u8 trace_id[16], span_id[8];  /* all zero: of no request */
	__u8 request_span[8];           /* by which stack_request() knows it */
	const struct process *process;
	__u8 stop;       /* enum profile_stop */
	__u8 named_kind; /* enum runtime_kind */
	__u8 source;     /* enum profile_source: whose ids they are */
	__u8 no_request; /* of a server, but of no request: 1 + why (servers.h); else 0 */
	bool followed;   /* request_span is of a request that the engine knows to be the thread's */
	bool is_wait;    /* there are waits and no samples on the CPU, or the other way round */
	long labels;     /* number of a set, see labels.h */
	__u16 kernel_count, user_count, named_count;
	/*
	 * Each kind the innermost first. Those of a runtime that compiles its code are among the
	 * user's, those of one that has a stack of its own come last.
	 */
	__u64 frame[];
};

/* Was the thread at work on a request? */
bool stack_has_request(const struct stack *stack);

/* The request of a stack (requests.h). */
struct profiled_request stack_request(const struct stack *stack, struct requests *requests);

/* Why a sample of a server belongs to no request (servers.h); NULL: it does, or is no server's. */
const char *stack_no_request(const struct stack *stack);

#define STACK_SWITCHED "[callers not known: a switch of stacks]"

/* Why outer frames are missing, in brackets; NULL: the stack is whole. See whole_stack_missing(),
 * too.
 */
const char *stack_missing(const struct stack *stack);

struct samples;

/* The processes and the names outlive it. NULL: no memory. */
struct samples *samples_new(struct processes *processes, struct runtime_functions *functions);
void samples_free(struct samples *samples);

/* No sample was taken by the sampler before this time (CLOCK_MONOTONIC). */
__u64 samples_since_ns(const struct samples *samples);

/* Count a sample, or a wait; as a callback of sampler_read(). */
void samples_take(const struct profile_sample *sample, void *samples);

/*
 * Count the end of a wait (PROFILE_WAITED) if that has begun in these samples. Returns whether it
 * has.
 */
bool samples_take_end(struct samples *samples, const struct profile_sample *sample);

/* What was counted. */
struct samples_counts {
	__u64 on_cpu;           /* samples */
	__u64 in_requests;      /* of these: with a context */
	__u64 incomplete;       /* of these: whose stack is not whole, see stack_missing() */
	__u64 waits;            /* that have begun, all with a context */
	__u64 left_out;         /* too much to keep, or half of a wait was lost */
	__u64 conflicts;        /* samples with ids of two traces */
	size_t stacks, bytes;   /* different ones; memory that they and labels take */
	struct servers servers; /* their samples on the CPU */
};
const struct samples_counts *samples_counts(const struct samples *samples);

/* The labels of stacks. */
const struct labels *samples_labels(const struct samples *samples);

/* The stacks, in no order, until `visit` returns other than 0, which is returned. */
int samples_each(const struct samples *samples, int (*visit)(const struct stack *stack, void *data),
		 void *data);

#endif
