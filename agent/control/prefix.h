/* SPDX-License-Identifier: Apache-2.0 */
/* Networks as text: "10.0.0.0/8", "fd00::/8", "10.1.2.3". */
#ifndef CTXPROP_CONTROL_PREFIX_H
#define CTXPROP_CONTROL_PREFIX_H

#include "control/policy_types.h"

#define POLICY_PREFIX_TEXT_MAX 50

/*
 * Read a network. 0; -EINVAL: it is not one; or -EDOM: bits behind the prefix are set, which are 0
 * in `ret`.
 */
int prefix_parse(const char *text, struct policy_prefix *ret);

/* Write a network into a buffer of POLICY_PREFIX_TEXT_MAX bytes; returns it. */
const char *prefix_text(char *buffer, const struct policy_prefix *prefix);

/* Is it one of IPv4? */
bool prefix_is_ipv4(const struct policy_prefix *prefix);

/* Is the length in range, and are the bits behind it 0? For networks that somebody sent. */
bool prefix_is_sound(const struct policy_prefix *prefix);

#endif
