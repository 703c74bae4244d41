/* SPDX-License-Identifier: Apache-2.0 */
/* A sampler, and all that is known of what it meets: processes, files, names. */
#ifndef CTXPROP_PROFILE_TAKE_PROFILER_H
#define CTXPROP_PROFILE_TAKE_PROFILER_H

#include "profile/names/name_cache.h"
#include "profile/names/runtime_functions.h"
#include "profile/take/processes.h"

struct profiler {
	struct sampler *sampler; /* NULL: it was stopped */
	struct files *files;
	struct thread_data *threads;
	struct processes *processes;
	struct runtime_functions *functions;
	struct name_cache *known;
};

/*
 * Begin to sample; the labels of programs are read by `registered`, processes by `reader`, which
 * outlives it. 0; or -errno, and what is wrong
 * in `ret_why` (SAMPLER_WHY_MAX). To be freed by profiler_close().
 */
int profiler_open(const struct sampler_options *options, const struct registered *registered,
		  struct proc_reader *reader, struct profiler **ret_profiler, char *ret_why);

/* Take no more samples; those that were taken can still be named. */
void profiler_stop(struct profiler *profiler);

void profiler_close(struct profiler *profiler);

/* Per cent of what fits into the fullest of its tables. Of one that was not stopped. */
unsigned int profiler_used(const struct profiler *profiler);

#endif
