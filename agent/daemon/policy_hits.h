/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the requests that each rule has decided. A rule is identified by everything it says,
 * including its priority. It keeps its counter as long as it stays in the policy, also from one
 * daemon to the next; a rule that is added (or added again) begins at 0.
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
 * Before an image of this policy is put in force: give each of its rules a counter, the one that it
 * has or a free one. 0 or -errno.
 */
int policy_hits_assign(const struct policy_maps *maps, const struct policy *policy,
		       struct policy_image *image);

/*
 * After the policy was put in force: free the counters of all other rules. (If that fails, they are
 * freed with the next change.)
 */
void policy_hits_release(const struct policy_maps *maps, const struct policy *policy);

/* What the rules of the policy in force have counted, over all CPUs. 0 or -errno. */
int policy_hits_read(const struct policy_maps *maps, const struct policy *policy,
		     struct policy_hits *ret);

#endif
