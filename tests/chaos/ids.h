/* SPDX-License-Identifier: Apache-2.0 */
/* A set of 64-bit ids, to find the ones that come twice. */
#ifndef CHAOS_IDS_H
#define CHAOS_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open addressing; 0 marks a free slot, so that 0 itself is never in the set. */
struct ids {
	uint64_t *slots;
	size_t capacity, count;
};

/* Add an id (not 0). False when it was there already. Out of memory ends the program. */
bool ids_add(struct ids *ids, uint64_t id);

void ids_free(struct ids *ids);

#endif
