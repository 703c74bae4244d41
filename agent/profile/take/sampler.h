/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of what the CPUs run, from a software clock on each of them (perf_event_open(2)). Its
 * programs are loaded while it is open, and only then.
 */
#ifndef CTXPROP_PROFILE_TAKE_SAMPLER_H
#define CTXPROP_PROFILE_TAKE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "profile/sample.h"
#include "runtimes/compiled.h"

#define SAMPLER_WHY_MAX 256

struct sampler_options {
	unsigned int hz;    /* on each CPU */
	__u64 duration_ns;  /* from sampler_open() on, however late samples are read; 0: no end */
	__u32 ring_bytes;   /* of samples that were not read yet, a power of two; 0: as usual */
	__u32 tgid;         /* 0: all processes */
	const char *cgroup; /* path below the root, with all below; NULL: all */
	bool requests_only; /* only threads that work on a request */
	bool off_cpu;       /* what these wait for, too */
	__u32 sources;      /* of ids and labels beside the map: 1 << enum profile_source each */
};

struct sampler;

/*
 * Begin to sample. Without a pinned traces_ctx_v1 no sample has a context, and
 * `sampler_has_contexts` says so. 0; or -errno, and what is wrong in `ret_why` (SAMPLER_WHY_MAX).
 */
int sampler_open(const struct sampler_options *options, struct sampler **ret_sampler,
		 char *ret_why);
void sampler_close(struct sampler *sampler);
bool sampler_has_contexts(const struct sampler *sampler);

/* When the last sample can be taken, or was (CLOCK_BOOTTIME). */
__u64 sampler_until_ns(const struct sampler *sampler);

/* No more samples from now on; those in the ring can still be read. */
void sampler_stop(struct sampler *sampler);

/*
 * Give what has come to `take`; its frames are those of sample->kernel_count and user_count.
 * Returns how many bytes of the ring that were.
 */
size_t sampler_read(struct sampler *sampler,
		    void (*take)(const struct profile_sample *sample, void *data), void *data);

/* How many samples found no room. */
__u64 sampler_lost(const struct sampler *sampler);

/*
 * How many waits are not told: the thread worked on something else afterwards, it had run
 * meanwhile, or there was no room for when they began.
 */
__u64 sampler_waits_left_out(const struct sampler *sampler);

/*
 * Take over the rows of a table, before a process refers to it. 0; -ENOSPC: there is no room; or
 * -errno: `ret_table` is as it was.
 */
int sampler_add_table(struct sampler *sampler, const struct profile_row *row, __u32 count,
		      struct profile_table *ret_table);

/* Per cent of the room for rows that is taken, or for their index if that is more. */
unsigned int sampler_tables_used(const struct sampler *sampler);

/*
 * Tell the sampler what a process has mapped, or that it is gone (NULL). `process->edition` is set
 * here. 0; -E2BIG: it knows PROFILE_PROCESSES others; or -errno.
 */
int sampler_set_process(struct sampler *sampler, __u32 tgid, struct profile_process *process);

/* The same for the code that its runtime has compiled. */
int sampler_set_compiled(struct sampler *sampler, __u32 tgid,
			 const struct runtime_compiled *compiled);

/* The same of what its threads have beside a stack. */
int sampler_set_threads(struct sampler *sampler, __u32 tgid,
			const struct profile_thread_data *threads);

#endif
