/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the threads of each process have ids and labels: found out when the process is looked at,
 * told to the sampler, and kept to name what samples bring.
 */
#ifndef CTXPROP_PROFILE_TAKE_THREAD_DATA_H
#define CTXPROP_PROFILE_TAKE_THREAD_DATA_H

#include "profile/take/files.h"
#include "profile/take/process_context.h"
#include "profile/take/registered.h"

struct thread_data;
struct process_code;

/*
 * `sources`: which are wanted, 1 << enum profile_source each; of none nothing is looked for. The
 * sampler and the files outlive it. NULL: no memory.
 */
struct thread_data *thread_data_new(struct sampler *sampler, struct files *files, __u32 sources,
				    const struct registered *registered);
void thread_data_free(struct thread_data *data);

/* A process, as it is just now. */
struct thread_data_process {
	int proc_fd;                /* /proc/PID */
	struct proc_reader *reader; /* has begun with it */
	__u32 tgid;
	__u64 life;
	const struct process_code *code; /* its mappings of code */
	size_t count;
};

/*
 * Look at a process, and tell the sampler. The names of its keys (process_context.h) are written to
 * *context, which is made when it is needed and is the caller's to free.
 */
void thread_data_look(struct thread_data *data, const struct thread_data_process *process,
		      struct process_context **context);

/* The variables that are labels, by the number that samples have. Owned by `data`. */
const struct registered *thread_data_registered(const struct thread_data *data);

#endif
