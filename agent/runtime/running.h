/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that the processes run of which the probes know: each process is asked once. */
#ifndef CTXPROP_RUNNING_H
#define CTXPROP_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "inspect/process.h"

struct running {
	struct process_program *program; /* in order, some more than once */
	size_t count;
	int err;
};

/* `runtimes_fd`: the map of processes. 0 or -ENOMEM; to be freed in any case. */
int running_gather(int runtimes_fd, struct running *ret_running);
void running_free(struct running *running);

/* Does a process run the program in this file? `data`: a struct running. */
bool running_has(const struct stat *file, void *data);

#endif
