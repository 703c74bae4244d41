/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of rules (`from`, `to`) as numbers. */
#ifndef CTXPROP_CONTROL_ENDS_H
#define CTXPROP_CONTROL_ENDS_H

#include "control/bounds.h"
#include "control/policy_types.h"

/* Which sets an address is in: bit i is for policy->sets[i]. */
struct in_sets {
	bool set[POLICY_SETS_MAX];
};

/* Look an address up in all sets. */
void sets_find(const struct policy *policy, const struct policy_number *address,
	       struct in_sets *ret);

/*
 * Does an end of a rule match an address that is in these sets? An IPv6 network contains no IPv4
 * address, however short its prefix is. A set that does not exist is empty.
 */
bool end_has(const struct policy *policy, const struct policy_end *end,
	     const struct policy_number *address, const struct in_sets *in);

/* Add the addresses at which what this end matches begins and ends. 0 or -ENOMEM. */
int end_bounds(const struct policy *policy, const struct policy_end *end, struct bounds *bounds);

#endif
