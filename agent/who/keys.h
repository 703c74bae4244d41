/* SPDX-License-Identifier: Apache-2.0 */
/* The workers in the maps that are not threads: tasks, goroutines and the like. */
#ifndef CTXPROP_WHO_KEYS_H
#define CTXPROP_WHO_KEYS_H

#include <stddef.h>

#include "engine/model.h"

/* Sorted, each once. */
struct keys {
	struct worker_key *key;
	size_t count;
};

/* Add those of a map with such keys. To be sorted then. 0 or -ENOMEM. */
int keys_add(struct keys *keys, int map_fd);

void keys_sort(struct keys *keys);

/* The first one of a process, of `ret_count`. */
const struct worker_key *keys_of(const struct keys *keys, __u32 tgid, size_t *ret_count);

void keys_free(struct keys *keys);

#endif
