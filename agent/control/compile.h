/* SPDX-License-Identifier: Apache-2.0 */
/* From the policy as people think of it to the image that packets are matched against. */
#ifndef CTXPROP_CONTROL_COMPILE_H
#define CTXPROP_CONTROL_COMPILE_H

#include "control/policy_types.h"

/* The numbers that names stand for in this namespace. 0: there is no such thing just now. */
struct policy_names {
	__u64 (*device)(const char *name, void *data); /* policy_device() */
	__u64 (*cgroup)(const char *path, void *data);
	void *data;
};

/*
 * Compile a policy and the built-in rules behind it. Rules for a device or cgroup that is not
 * there fit nothing. 0, -ENOMEM, or -E2BIG: it cuts the numbers into more classes than an image
 * holds. The caller frees *ret.
 */
int policy_compile(const struct policy *policy, const struct policy_names *names, __u32 generation,
		   struct policy_image **ret, struct policy_error *error);

/*
 * What a rule comes to in an image; it counts as the built-in one of its direction, until it is
 * given a counter of its own.
 */
struct policy_verdict policy_verdict_of(const struct policy_rule *rule);

#endif
