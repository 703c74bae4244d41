/* SPDX-License-Identifier: Apache-2.0 */
/* The maps of a layer that hold the compiled policy which its packet programs follow. */
#ifndef CTXPROP_LOAD_POLICY_MAPS_H
#define CTXPROP_LOAD_POLICY_MAPS_H

#include "policy.h"

/* Descriptors of these maps; not owned. */
struct policy_maps {
	int image_fd;  /* map `policies` */
	int state_fd;  /* map `policy_state` */
	int hits_fd;   /* map `rule_hits` */
	int owners_fd; /* map `rule_owners` */
};

/*
 * A number for the next image that no flow of this layer has stored, also not under an earlier
 * daemon. 0 or -errno.
 */
int policy_maps_next_generation(const struct policy_maps *maps, __u32 *ret_generation);

/*
 * Put an image in force, in one step for all packets. `image` NULL: no image, only the built-in
 * rules. When this returns, no packet is still judged by the image before. 0 or -errno.
 */
int policy_maps_put(const struct policy_maps *maps, const struct policy_image *image);

#endif
