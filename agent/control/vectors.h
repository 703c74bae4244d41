/* SPDX-License-Identifier: Apache-2.0 */
/* The bit vectors of an image that is being compiled: equal ones are stored once. */
#ifndef CTXPROP_CONTROL_VECTORS_H
#define CTXPROP_CONTROL_VECTORS_H

#include "policy.h"

#define VECTOR_SLOTS (POLICY_VECTORS_MAX * 2) /* of the hash table; a power of two */

struct vectors {
	struct policy_vector *vector; /* POLICY_VECTORS_MAX of them */
	__u32 count;
	__u16 slot[VECTOR_SLOTS]; /* number of a vector + 1; 0: free */
};

/*
 * The number of an equal vector, or of this one, which is added; -E2BIG: there is no room for it.
 */
int vectors_number(struct vectors *vectors, const struct policy_vector *wanted);

/* Set the bit of a rule. */
static inline void vector_set(struct policy_vector *vector, __u32 rule)
{
	vector->word[rule / 64] |= 1ULL << rule % 64;
}

#endif
