/* SPDX-License-Identifier: Apache-2.0 */
/* `from` and `to` of rules as numbers. */
#ifndef CTXPROP_CONTROL_ENDS_H
#define CTXPROP_CONTROL_ENDS_H

#include "control/bounds.h"
#include "control/policy_types.h"

/* Which sets an address is in, by their places in policy->sets. */
struct in_sets {
	bool set[POLICY_SETS_MAX];
};

/* Look an address up in all sets. */
void sets_find(const struct policy *policy, const struct policy_number *address,
	       struct in_sets *ret);

/*
 * Does an end of a rule fit an address, which is in these sets? A network of IPv6 has no address
 * of IPv4, however short its prefix is. A set that is not there is empty.
 */
bool end_has(const struct policy *policy, const struct policy_end *end,
	     const struct policy_number *address, const struct in_sets *in);

/* Add the places where one class of addresses ends and the next begins. 0 or -ENOMEM. */
int end_bounds(const struct policy *policy, const struct policy_end *end, struct bounds *bounds);

#endif
