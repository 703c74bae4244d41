/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns for `host` in rules, as numbers (bpf/policy_host.h). */
#ifndef CTXPROP_CONTROL_HOSTS_H
#define CTXPROP_CONTROL_HOSTS_H

#include <stdbool.h>
#include <linux/types.h>

/* The number that a pattern, "api.example.com" or "*.example.com", is looked up by. */
__u64 host_number(const char *pattern);

/* Does the first pattern match every host that the second one matches? */
bool host_encloses(const char *outer, const char *inner);

/* Has a pattern that begins with "*." more labels than are compared? */
bool host_is_deep(const char *pattern);

#endif
