/* SPDX-License-Identifier: Apache-2.0 */
/* A message as a tree: endpoint, program, functions from the outermost to the innermost. */
#ifndef CTXPROP_PROFILE_DRAW_FLAME_H
#define CTXPROP_PROFILE_DRAW_FLAME_H

#include <stdio.h>

#include "profile/message/path.h"

/* What its widths are. */
enum flame_unit { FLAME_SAMPLES, FLAME_NS };

struct flame {
	char *name;
	__u64 total, self;             /* with all below, and what ends here */
	struct flame *child, *sibling; /* by name */
	enum step_kind kind;
};

/* With or without endpoints as the first frames. NULL: no memory. */
struct flame *flame_of_message(const struct message_weight *weight, bool with_endpoint);
void flame_free(struct flame *root);

/* The unit of the widths of such a tree. */
enum flame_unit flame_unit_of(const struct message_weight *weight);

/* The child of this name; NULL: there is none. */
const struct flame *flame_child(const struct flame *node, const char *name);

/* The function in which most of a tree on the CPU ends, and how much. NULL: there is none. */
const char *flame_hottest(const struct flame *root, __u64 *ret_samples);

/* "endpoint;program;outermost;...;innermost count", one line for each stack. */
void flame_write_folded(const struct flame *root, FILE *out);

/* A picture with a search and a zoom of its own, without external resources. */
void flame_write_svg(const struct flame *root, enum flame_unit unit, const char *title, FILE *out);

#endif
