// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "context/traces.h"
#include "load/node_contexts.h"
#include "load/node_maps.h"
#include "load/pins.h"

/* Room for one value of a map, all zero; another build's may have another size. */
static void *value_of(int map)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (map < 0 || bpf_obj_get_info_by_fd(map, &info, &size))
		return NULL;
	return calloc(1, info.value_size);
}

/* Generation 0: none of the probes is at work (see context/node.h). */
static void stop_probes(const char *layer_dir)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int node = bpf_obj_get(pins_map_path(path, layer_dir, "node"));
	_cleanup_free_ void *none = value_of(node);
	__u32 index = 0;

	if (none)
		bpf_map_update_elem(node, &index, none, BPF_ANY);
}

static bool is_traces_map(int map)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	return map >= 0 && !bpf_obj_get_info_by_fd(map, &info, &size) &&
	       info.key_size == sizeof(__u64) && info.value_size == sizeof(struct traces_ctx);
}

/* Every span that was published is a request, by the same id, for as long as it is shown. */
static bool is_ours(int traces, __u64 thread, int requests, void *request)
{
	struct traces_ctx shown;
	__u64 id;

	if (bpf_map_lookup_elem(traces, &thread, &shown))
		return false;
	memcpy(&id, shown.span_id, sizeof(id));
	return !bpf_map_lookup_elem(requests, &id, request);
}

static void withdraw(int traces, int requests)
{
	_cleanup_free_ void *request = value_of(requests);
	__u64 thread, next;
	int err;

	if (!request || !is_traces_map(traces))
		return;
	for (err = bpf_map_get_next_key(traces, NULL, &next); !err;) {
		thread = next;
		err = bpf_map_get_next_key(traces, &thread, &next);
		if (is_ours(traces, thread, requests, request))
			bpf_map_delete_elem(traces, &thread);
	}
}

void node_contexts_withdraw(const char *layer_dir)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int requests = bpf_obj_get(pins_map_path(path, layer_dir, "requests"));
	_cleanup_close_ int traces = bpf_obj_get(NODE_TRACES_PATH);

	stop_probes(layer_dir);
	withdraw(traces, requests);
}
