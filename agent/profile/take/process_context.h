/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process says of its threads' contexts in memory that it has mapped for everybody to find
 * (OTEP 4719): the names of the keys that the records of OTEP 4947 have numbers for.
 */
#ifndef CTXPROP_PROFILE_TAKE_PROCESS_CONTEXT_H
#define CTXPROP_PROFILE_TAKE_PROCESS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "inspect/proc_reader.h"
#include "profile/sample.h"

#define PROCESS_CONTEXT_BYTES 65536 /* of a payload; a larger one is not read */
#define PROCESS_CONTEXT_KEYS  256

/* The name of each key; empty: it has none. What is too long is cut. */
struct process_context {
	__u64 published_ns; /* CLOCK_BOOTTIME; 0: it was not read yet */
	bool knows_schema;  /* of its threads' records, one that is understood */
	char key[PROCESS_CONTEXT_KEYS][PROFILE_LABEL_KEY];
};

/* Is memory of this name (proc_pid_maps(5)) such a context? */
bool process_context_is(const char *mapping);

/*
 * Read it, where it is in the process that `reader` has begun with, and parse it in a sandbox,
 * unless it is the one that *context has already. 0; -EAGAIN: it was being written; -EINVAL: it is
 * none, or of another version; or -errno. *context is left as it was then.
 */
int process_context_read(struct proc_reader *reader, __u64 address,
			 struct process_context *context);

/* The same of a payload's bytes. 0 or -EINVAL. */
int process_context_parse(const __u8 *bytes, size_t size, struct process_context *ret_context);

#endif
