/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a policy that was changed with ctxprop for the next daemon, with the pins. It is used only
 * if the policy file has not changed since.
 */
#ifndef CTXPROP_POLICY_MEMORY_H
#define CTXPROP_POLICY_MEMORY_H

#include "control/policy_types.h"
#include "pins/pins.h"

/* A hash of the text of a policy's file, its stamp. */
__u64 policy_memory_stamp(const char *text, size_t size);

/* Keep a policy that began with the file of this stamp. 0 or -errno. */
int policy_memory_keep(const struct pins *pins, __u64 stamp, const struct policy *policy);

/*
 * The policy that was kept. 0; -ENOENT: none; -ESTALE: the file was another one; -errno with
 * error->text.
 */
int policy_memory_recall(const struct pins *pins, __u64 stamp, struct policy *ret,
			 struct policy_error *error);

/* Forget it. */
void policy_memory_drop(const struct pins *pins);

#endif
