// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "load/node_maps.h"
#include "load/node_shares.h"
#include "pins/pins.h"

/* More than the map has entries. */
#define STEPS_MAX 4096

int node_shares_each(node_shares_visit visit, void *data)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd =
	    bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), "shares_reached"));
	struct share_reached key, next;
	__u64 times;

	if (fd < 0)
		return fd;
	for (int err = bpf_map_get_next_key(fd, NULL, &next), steps = 0; !err && steps < STEPS_MAX;
	     steps++) {
		key = next;
		err = bpf_map_get_next_key(fd, &key, &next);
		if (!bpf_map_lookup_elem(fd, &key, &times))
			visit(&key, times, data);
	}
	return 0;
}

const char *node_shares_table(__u32 table)
{
	static const char *const names[SHARE_TABLES] = {
	    [SHARE_WORKERS] = "threads, goroutines and tasks that have requests",
	    [SHARE_PROCESSES] = "processes that have requests",
	    [SHARE_RUNTIMES] = "what programs run",
	    [SHARE_CGROUP] = "processes that have requests (its cgroup's)",
	    [SHARE_LISTENERS] = "programs that have had no request yet",
	};

	return table < SHARE_TABLES ? names[table] : "?";
}
