/* SPDX-License-Identifier: Apache-2.0 */
/* A set of trace ids. All zero: empty. */
#ifndef CTXPROP_TRACE_SET_H
#define CTXPROP_TRACE_SET_H

#include <stdbool.h>
#include <stddef.h>

#define TRACE_ID_SIZE 16

struct trace_set {
	unsigned char (*slot)[TRACE_ID_SIZE]; /* all zero: free; no trace has that id */
	size_t slots, count;                  /* slots: a power of two, or 0 */
};

/* Add an id of TRACE_ID_SIZE bytes. 0, -EEXIST: it is there, or -ENOMEM. */
int trace_set_add(struct trace_set *set, const void *id);

/* Is it there? */
bool trace_set_has(const struct trace_set *set, const void *id);

void trace_set_free(struct trace_set *set);

#endif
