/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers at which the classes of one dimension (addresses, ports, ...) begin: see compile.h.
 */
#ifndef CTXPROP_CONTROL_BOUNDS_H
#define CTXPROP_CONTROL_BOUNDS_H

#include <stddef.h>

#include "policy.h"

struct bounds {
	struct policy_number *number;
	size_t count;
};

/* Add a number. 0 or -ENOMEM. */
int bounds_add(struct bounds *bounds, struct policy_number number);

/* Add the first number of a range and the one behind its last. */
int bounds_add_range(struct bounds *bounds, struct policy_number first, struct policy_number last);

/* Sort, and keep each once. */
void bounds_sort(struct bounds *bounds);

void bounds_free(struct bounds *bounds);

#endif
