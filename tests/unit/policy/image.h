/* SPDX-License-Identifier: Apache-2.0 */
/* A policy's image, and what it says about a request. */
#ifndef CTXPROP_TEST_IMAGE_H
#define CTXPROP_TEST_IMAGE_H

#include "control/compile.h"
#include "oracle.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Names that rules and requests may have. The first one is none, the last one is not there. */
#define IMAGE_DEVICES 5
#define IMAGE_CGROUPS 9
extern const char *const image_devices[IMAGE_DEVICES], *const image_cgroups[IMAGE_CGROUPS];

/* What these names stand for. */
extern const struct policy_names image_names;

/* The image of a policy; to be freed. */
struct policy_image *image_of(const struct policy *policy);

/* The priority of the rule that it finds for a request. */
__u32 image_prio(const struct policy_image *image, const struct request *request);

#endif
