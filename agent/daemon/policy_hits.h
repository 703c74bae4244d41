/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many requests each rule has decided. A rule is known by all that it says, its priority
 * included: as long as it stays it keeps its counter, also from one daemon to the next, and a rule
 * that is made (or made again) begins at 0.
 */
#ifndef CTXPROP_DAEMON_POLICY_HITS_H
#define CTXPROP_DAEMON_POLICY_HITS_H

#include "control/policy_types.h"
#include "load/policy_maps.h"

struct policy_hits {
	__u64 rule[POLICY_USER_RULES_MAX];
	__u64 builtin[POLICY_BUILTIN_RULES]; /* by policy_builtin() */
};

/*
 * Before an image of this policy comes into force: give each rule in it a counter, its own or one
 * that nobody counts in. 0 or -errno.
 */
int policy_hits_assign(const struct policy_maps *maps, const struct policy *policy,
		       struct policy_image *image);

/*
 * The policy is in force: the counters of all other rules are free. (If that fails, then with the
 * next change.)
 */
void policy_hits_release(const struct policy_maps *maps, const struct policy *policy);

/* What the rules of the policy in force have counted, over all CPUs. 0 or -errno. */
int policy_hits_read(const struct policy_maps *maps, const struct policy *policy,
		     struct policy_hits *ret);

#endif
