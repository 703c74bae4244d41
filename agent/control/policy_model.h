/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a policy, and the policy as a whole. Its sets: policy_sets.h. */
#ifndef CTXPROP_POLICY_MODEL_H
#define CTXPROP_POLICY_MODEL_H

#include "control/policy_types.h"

/*
 * An empty policy is all zero. What fails below may have changed it in part: those who want all or
 * nothing work on a copy.
 *
 * Frees what a policy holds and makes it empty.
 */
void policy_clear(struct policy *policy);

/* A deep copy. 0 or -ENOMEM, then `ret` is empty. */
int policy_copy(const struct policy *policy, struct policy *ret);

/* The rules that follow the user's; `index` is less than POLICY_BUILTIN_RULES. */
const struct policy_rule *policy_builtin(size_t index);

/*
 * Which share of the traces that the built-in rules begin is sampled, in millionths. To be said
 * before any policy is in force; the default is POLICY_SAMPLE_ALL.
 */
void policy_builtin_set_sample(__u32 sample);

/* Do the built-in rules say what the packet programs do without any policy? */
bool policy_builtin_is_usual(void);

/* Make a rule that matches everything, and injects. */
void policy_rule_init(struct policy_rule *rule);

/* Do the parts of a rule go together? 0 or -EINVAL. */
int policy_rule_check(const struct policy_rule *rule, struct policy_error *error);

/* The user's rule with this priority, or NULL. */
const struct policy_rule *policy_find(const struct policy *policy, __u32 prio);

/* A priority behind all rules; one above POLICY_PRIO_MAX means that none is left. */
__u32 policy_next_prio(const struct policy *policy);

/* What to do if a rule of this priority exists, or does not (as NLM_F_* in rtnetlink). */
enum policy_put { POLICY_PUT_NEW, POLICY_PUT_EITHER, POLICY_PUT_EXISTING };

/*
 * Add a rule or replace the one of its priority. 0; -EEXIST, -ENOENT by `how`; -EINVAL, -E2BIG,
 * -ENOMEM, or -ESRCH for a set that is not there.
 */
int policy_put_rule(struct policy *policy, const struct policy_rule *rule, enum policy_put how,
		    struct policy_error *error);

/* Remove a rule. 0 or -ENOENT. */
int policy_delete_rule(struct policy *policy, __u32 prio, struct policy_error *error);

/* Remove all rules; sets stay. */
void policy_flush_rules(struct policy *policy);

#endif
