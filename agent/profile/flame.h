/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a tree: endpoint, program, functions from the outermost to the innermost. */
#ifndef CTXPROP_PROFILE_FLAME_H
#define CTXPROP_PROFILE_FLAME_H

#include <stdio.h>
#include <linux/types.h>

#include "profile/filter.h"
#include "profile/names.h"

enum flame_kind { FLAME_NATIVE, FLAME_KERNEL, FLAME_NAMED, FLAME_WAIT };

/* What its widths are. */
enum flame_unit { FLAME_SAMPLES, FLAME_NS };

struct flame {
	char *name;
	__u64 total, self;             /* with all below, and what ends here */
	struct flame *child, *sibling; /* by name */
	enum flame_kind kind;
};

/*
 * Put the stacks that `filter` takes into a tree, and count the samples and waits of each endpoint.
 * `sample_ns`: 0 for a tree of samples; else one of wall-clock time, in which a sample stands for
 * so much, and a wait ends in the frame "[blocked]" or "[run queue]". NULL: no memory.
 */
struct flame *flame_new(const struct samples *samples, const struct names *names,
			struct requests *requests, const struct filter *filter, __u64 sample_ns);
void flame_free(struct flame *root);

/* A tree of its own, without anything in it. NULL: no memory. */
struct flame *flame_root(void);

/* The child of this name, made if it is new, wider by `weight`. NULL: no memory. */
struct flame *flame_enter(struct flame *node, const char *name, enum flame_kind kind, __u64 weight);

/*
 * Take the child of this name, with all that is in it, out of the root, which is narrower by it
 * then. The caller's to free; NULL: there is none.
 */
struct flame *flame_take_out(struct flame *root, const char *name);

/* The child of this name; NULL: there is none. */
const struct flame *flame_child(const struct flame *node, const char *name);

/* The tree of one endpoint, or NULL. */
const struct flame *flame_of_endpoint(const struct flame *root, const struct endpoint *endpoint);

/* The function in which most of a tree on the CPU ends, and how much. NULL: there is none. */
const char *flame_hottest(const struct flame *root, __u64 *ret_samples);

/* "endpoint;program;outermost;...;innermost count", one line for each stack. */
void flame_write_folded(const struct flame *root, FILE *out);

/* A picture with a search and a zoom of its own, without external resources. */
void flame_write_svg(const struct flame *root, enum flame_unit unit, const char *title, FILE *out);

#endif
