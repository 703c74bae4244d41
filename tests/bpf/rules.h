/* SPDX-License-Identifier: Apache-2.0 */
/* Policies for the programs under test. */
#ifndef CTXPROP_TEST_RULES_H
#define CTXPROP_TEST_RULES_H

#include "rig.h"

/* Follow the sets and rules of a policy file's text. */
void rules_follow(const struct rig *rig, const char *text);

/* Follow none but the built-in ones. */
void rules_none(const struct rig *rig);

/* What a counter of rules has, over all CPUs. */
uint64_t rules_hits(const struct rig *rig, uint32_t counter);

#endif
