/* SPDX-License-Identifier: Apache-2.0 */
/* The image of a policy that a layer's packet programs follow. */
#ifndef CTXPROP_LOAD_POLICIES_H
#define CTXPROP_LOAD_POLICIES_H

#include "policy.h"

/* The maps of a layer that it takes; not owned. */
struct policies_maps {
	int image_fd;  /* map `policies` */
	int state_fd;  /* map `policy_state` */
	int hits_fd;   /* map `rule_hits` */
	int owners_fd; /* map `rule_owners` */
};

/*
 * The number for the next image: one that no flow of this layer remembers, also from before this
 * daemon. 0 or -errno.
 */
int policies_next_generation(const struct policies_maps *maps, __u32 *ret_generation);

/*
 * Put an image in force, in one step for all packets; `image` NULL: none, the built-in rules. When
 * it returns no packet is under way that was judged by the one before. 0 or -errno.
 */
int policies_put(const struct policies_maps *maps, const struct policy_image *image);

#endif
