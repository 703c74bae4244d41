// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "control/vectors.h"

static __u32 hash(const struct policy_vector *vector)
{
	__u64 sum = 0;

	for (int i = 0; i < POLICY_WORDS; i++)
		sum = (sum ^ vector->word[i]) * 0x9e3779b97f4a7c15ULL;
	return (__u32)(sum >> 32);
}

int vectors_number(struct vectors *vectors, const struct policy_vector *wanted)
{
	__u32 at = hash(wanted) & (VECTOR_SLOTS - 1);

	/* Half of the slots stay free, so this ends. */
	for (; vectors->slot[at]; at = (at + 1) & (VECTOR_SLOTS - 1))
		if (!memcmp(&vectors->vector[vectors->slot[at] - 1], wanted, sizeof(*wanted)))
			return vectors->slot[at] - 1;
	if (vectors->count == POLICY_VECTORS_MAX)
		return -E2BIG;
	vectors->vector[vectors->count] = *wanted;
	vectors->slot[at] = (__u16)++vectors->count;
	return (int)vectors->count - 1;
}
