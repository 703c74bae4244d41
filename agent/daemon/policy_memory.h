/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ctxprop has changed of a policy, for the next daemon: kept with the pins, and good for as
 * long as the policy file is the one that it was when it was changed.
 */
#ifndef CTXPROP_POLICY_MEMORY_H
#define CTXPROP_POLICY_MEMORY_H

#include "control/policy_types.h"
#include "pins/pins.h"

/* A number for the text of a policy's file. */
__u64 policy_memory_stamp(const char *text, size_t size);

/* Keep a policy that was made upon the file of this stamp. 0 or -errno. */
int policy_memory_keep(const struct pins *pins, __u64 stamp, const struct policy *policy);

/*
 * The policy that was kept. 0; -ENOENT: none; -ESTALE: it was made upon another file; -errno with
 * error->text.
 */
int policy_memory_recall(const struct pins *pins, __u64 stamp, struct policy *ret,
			 struct policy_error *error);

/* Forget it. */
void policy_memory_drop(const struct pins *pins);

#endif
