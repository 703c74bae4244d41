/* SPDX-License-Identifier: Apache-2.0 */
/* Policies and requests by chance, out of few names, so that things meet. */
#ifndef CTXPROP_TEST_DRAW_H
#define CTXPROP_TEST_DRAW_H

#include <stdint.h>

#include "control/policy_types.h"
#include "oracle.h"

/* A number below this one. */
uint32_t draw(uint32_t below);

/* Sets and rules; to be cleared. */
void draw_policy(struct policy *policy);

/* A request, often one near a border of one of the rules. */
void draw_request(const struct policy *policy, struct request *request);

#endif
