/* SPDX-License-Identifier: Apache-2.0 */
/* The image of a policy that a layer's packet programs follow. */
#ifndef CTXPROP_LOAD_POLICY_MAPS_H
#define CTXPROP_LOAD_POLICY_MAPS_H

#include "policy.h"

/* The maps of a layer that it takes; not owned. */
struct policy_maps {
	int image_fd;  /* map `policies` */
	int state_fd;  /* map `policy_state` */
	int hits_fd;   /* map `rule_hits` */
	int owners_fd; /* map `rule_owners` */
};

/*
 * The number for the next image: one that no flow of this layer remembers, also from before this
 * daemon. 0 or -errno.
 */
int policy_maps_next_generation(const struct policy_maps *maps, __u32 *ret_generation);

/*
 * Put an image in force, in one step for all packets; `image` NULL: none, the built-in rules. When
 * it returns no packet is under way that was judged by the one before. 0 or -errno.
 */
int policy_maps_put(const struct policy_maps *maps, const struct policy_image *image);

#endif
