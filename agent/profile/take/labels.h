/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels that programs give to their samples, merged from all sources. Equal sets of labels
 * have the same number.
 */
#ifndef CTXPROP_PROFILE_TAKE_LABELS_H
#define CTXPROP_PROFILE_TAKE_LABELS_H

#include "base/unique.h"
#include "profile/sample.h"
#include "profile/take/registered.h"

struct process_context;

/* All zero: no sets, nothing counted. */
struct labels {
	struct unique sets; /* number 0: no labels */
	__u64 cut;          /* keys and values that were too long */
	__u64 left_out;     /* samples with more labels than there is room for */
	__u64 unnamed;      /* labels whose key has no name */
	__u64 conflicts;    /* two sources with different values for one key */
	__u64 crowded;      /* samples whose labels there was no room for */
};

/*
 * The set of a sample. `context`: names of the keys of its process, or NULL. `room`: as many bytes
 * as a new set may take; what it has taken is taken off. Returns its number; 0: it has none, or
 * there is no room.
 */
long labels_of(struct labels *labels, const struct registered *registered,
	       const struct process_context *context, const struct profile_sample *sample,
	       size_t *room);

void labels_free(struct labels *labels);

/*
 * Call `visit` for each label of a set, by its key, until it returns other than 0. Returns what it
 * has returned last.
 */
int labels_each(const struct labels *labels, long set,
		int (*visit)(const char *key, const char *value, void *data), void *data);

#endif
