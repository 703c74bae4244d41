/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a tree: endpoint, program, functions from the outermost to the innermost. */
#ifndef CTXPROP_PROFILE_FLAME_H
#define CTXPROP_PROFILE_FLAME_H

#include <stdio.h>
#include <linux/types.h>

#include "profile/names.h"
#include "profile/requests.h"

struct flame {
	char *name;
	__u64 total, self;             /* samples: with all below, and that end here */
	struct flame *child, *sibling; /* by name */
	bool is_kernel;
};

/*
 * Put all stacks into a tree, and count the samples of each endpoint. `pattern`: only endpoints
 * that fit (glob(7)); NULL: all. NULL: no memory.
 */
struct flame *flame_new(const struct samples *samples, const struct names *names,
			struct requests *requests, const char *pattern);
void flame_free(struct flame *root);

/* "endpoint;program;outermost;...;innermost count", one line for each stack. */
void flame_write_folded(const struct flame *root, FILE *out);

/* A picture with a search and a zoom of its own, without external resources. */
void flame_write_svg(const struct flame *root, const char *title, FILE *out);

#endif
