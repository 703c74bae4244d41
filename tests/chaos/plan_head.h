/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of generated requests. */
#ifndef CHAOS_PLAN_HEAD_H
#define CHAOS_PLAN_HEAD_H

#include "plan.h"

/*
 * Write the plan's head and the hashes of it that the server must report; draws the method, the
 * target, the size, decoys, offers to upgrade and whether it brings its own traceparent.
 */
void plan_head_write(struct plan *plan, const struct settings *settings, struct rng *rng);

#endif
