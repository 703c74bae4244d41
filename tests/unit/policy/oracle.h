/* SPDX-License-Identifier: Apache-2.0 */
/* The first rule that fits, found by asking one rule after the other. */
#ifndef CTXPROP_TEST_POLICY_ORACLE_H
#define CTXPROP_TEST_POLICY_ORACLE_H

#include "control/policy_types.h"

/*
 * A request as people see it. Addresses as in packets; cgroup: a path; device: a name; host: in
 * small letters, empty for none.
 */
struct request {
	enum policy_dir dir;
	__u8 from[16] __attribute__((aligned(8)));
	__u8 to[16] __attribute__((aligned(8)));
	__u16 port;
	const char *device;
	const char *cgroup;
	const char *host;
};

/* The priority of the rule that decides. */
__u32 oracle_prio(const struct policy *policy, const struct request *request);

#endif
