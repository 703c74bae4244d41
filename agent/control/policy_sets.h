/* SPDX-License-Identifier: Apache-2.0 */
/* The named sets of a policy. A function that fails may have changed it in part. */
#ifndef CTXPROP_POLICY_SETS_H
#define CTXPROP_POLICY_SETS_H

#include "control/policy_types.h"

/* The set of this name, or NULL. */
const struct policy_set *policy_find_set(const struct policy *policy, const char *name);

/* Is this the name of a set? A lowercase letter, then such letters, digits, "-" and "_". */
bool policy_is_set_name(const char *name);

/* Make a set unless it is there, and add networks to it. 0 or -EEXIST (`exclusive`), -E2BIG... */
int policy_put_set(struct policy *policy, const struct policy_set *set, bool exclusive,
		   struct policy_error *error);

/* Take networks out of a set. 0, or -ENOENT if it is not there or one of them is not in it. */
int policy_delete_from_set(struct policy *policy, const struct policy_set *set,
			   struct policy_error *error);

/* Empty a set, and remove it unless a rule names it. 0 or -ENOENT. */
int policy_flush_set(struct policy *policy, const char *name, struct policy_error *error);

#endif
