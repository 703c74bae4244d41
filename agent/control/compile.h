/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the policy, as people write it, into the image that packets are matched against. */
#ifndef CTXPROP_CONTROL_COMPILE_H
#define CTXPROP_CONTROL_COMPILE_H

#include "control/policy_types.h"

/*
 * Look up the number of a device or a cgroup by its name in this namespace. 0: there is none of
 * this name now.
 */
struct policy_names {
	__u64 (*device)(const char *name, void *data); /* policy_device() */
	__u64 (*cgroup)(const char *path, void *data);
	void *data;
};

/*
 * Compile a policy, followed by the built-in rules. Rules for a device or cgroup that is not there
 * match nothing. 0, -ENOMEM, or -E2BIG: its addresses or ports divide into more classes than an
 * image has room for. The caller frees *ret.
 */
int policy_compile(const struct policy *policy, const struct policy_names *names, __u32 generation,
		   struct policy_image **ret, struct policy_error *error);

/*
 * The verdict of a rule as an image has it. Its counter is that of the built-in rule of its
 * direction, until it is given one of its own.
 */
struct policy_verdict policy_verdict_of(const struct policy_rule *rule);

#endif
