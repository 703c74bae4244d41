// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>

#include "runtimes/runtime.h"
#include "runtime/leftovers.h"

static int is_leftover(const struct worker_key *key, int runtimes_fd)
{
	struct runtime runtime;

	return key->context && bpf_map_lookup_elem(runtimes_fd, &key->tgid, &runtime);
}

void leftovers_remove(int workers_fd, int runtimes_fd)
{
	struct worker_key key, next;
	int end = bpf_map_get_next_key(workers_fd, NULL, &next);

	while (!end) {
		key = next;
		end = bpf_map_get_next_key(workers_fd, &key, &next);
		if (is_leftover(&key, runtimes_fd))
			bpf_map_delete_elem(workers_fd, &key);
	}
}
