/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings of the processes in samples: given to the sampler, and kept to name frames. */
#ifndef CTXPROP_PROFILE_TAKE_PROCESSES_H
#define CTXPROP_PROFILE_TAKE_PROCESSES_H

#include "base/proc.h"
#include "profile/take/files.h"
#include "profile/take/thread_data.h"
#include "runtimes/compiled.h"

struct processes;

/* The sampler, the files, the data of threads and the reader outlive it. NULL: no memory. */
struct processes *processes_new(struct sampler *sampler, struct files *files,
				struct thread_data *threads, struct proc_reader *reader);
void processes_free(struct processes *processes);

/*
 * Look at the mappings of a process more and more seldom while they stay the same, up to once in so
 * long; without this they are looked at every two seconds.
 */
void processes_slow_down(struct processes *processes, __u64 longest_ns);

/*
 * For who goes on for long: forget processes without a sample since `before_ns` (CLOCK_MONOTONIC),
 * and of those that have ended all without one since `stacks_ns`, which is as late or later; stacks
 * of samples before it are not good any more. The sampler is told. Files that none has had mapped
 * since `before_ns` are closed.
 */
void processes_forget(struct processes *processes, __u64 before_ns, __u64 stacks_ns);

struct process_code {
	__u64 start, end, bias; /* see struct profile_mapping */
	int file;
};

struct process {
	__u64 life; /* as samples have it */
	__u32 tgid;
	char name[PROC_COMM_MAX]; /* of the thread that was met first, or of its first thread */
	__u64 met_ns;             /* when its last sample was taken here (CLOCK_MONOTONIC) */
	bool is_met;              /* and there was one since processes_refresh() */
	bool has_unknown;         /* such a one met code that is not known */
	bool serves;              /* it has read requests */
	__u8 named_kind;          /* enum runtime_kind of functions that were met; 0: none were */
	__u64 looked_ns;          /* when its mappings were read */
	__u64 pause_ns;           /* until they are read again; 0: they never were */
	bool is_told;             /* the sampler has `code` */
	__u32 count;
	struct process_code *code;        /* by address */
	__u64 asked_ns;                   /* when `compiled` was looked for */
	__u32 failed;                     /* how often that has failed or took too long */
	struct runtime_compiled compiled; /* see process_compiled() */
	struct process_context *context;  /* names of its labels' keys; NULL: it has told none */
};

/* The process of a sample, with the mappings by which it was unwound. NULL: no memory. */
struct process *processes_find(struct processes *processes, const struct profile_sample *sample);

/* A sample of it has come, whose frames were looked up. */
void processes_meet(struct process *process, const struct profile_sample *sample);

/*
 * Read the mappings of processes that were met, if there is reason to, and give them to the
 * sampler; first of those that have read requests, then, for a short while, of others: the rest
 * waits for the next call. All samples that have come must have been taken before. Returns false
 * if that call is to come at once, behind the samples that have come meanwhile.
 */
bool processes_refresh(struct processes *processes);

/* What is known of the code that its runtime has compiled. NULL: nothing. */
const struct runtime_compiled *process_compiled(const struct process *process);

/* The variables that are labels, by the number that samples have. */
const struct registered *processes_registered(const struct processes *processes);

/* The mapping with this address, or NULL. */
const struct process_code *process_code_at(const struct process *process, __u64 address);

#endif
