// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "engine/model.h"
#include "engine/traces.h"
#include "load/node_contexts.h"
#include "load/node_maps.h"
#include "pins/pins.h"

static int map_info(int map, struct bpf_map_info *ret_info)
{
	__u32 size = sizeof(*ret_info);

	*ret_info = (struct bpf_map_info){};
	return map < 0 ? map : bpf_obj_get_info_by_fd(map, ret_info, &size);
}

/* Room for one value of a map, all zero; another build's may have another size. */
static void *value_of(int map)
{
	struct bpf_map_info info;

	return map_info(map, &info) ? NULL : calloc(1, info.value_size);
}

/* Generation 0: none of the probes is at work (see engine/node.h). */
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
	struct bpf_map_info info;

	return !map_info(map, &info) && info.key_size == sizeof(__u64) &&
	       info.value_size == sizeof(struct traces_ctx);
}

/* The requests of a layer, whatever its version: before 3 they stood in a hash, by their id. */
struct requests_map {
	int fd;
	bool hash;
	void *value; /* room for one, which begins with its id if this is no hash */
};

static bool is_request(const struct requests_map *requests, __u64 id)
{
	__u32 place = request_place(id);

	if (requests->hash)
		return !bpf_map_lookup_elem(requests->fd, &id, requests->value);
	return !bpf_map_lookup_elem(requests->fd, &place, requests->value) &&
	       !memcmp(requests->value, &id, sizeof(id));
}

/* As long as a span is published there is a request with the same id. */
static bool is_ours(int traces, __u64 thread, const struct requests_map *requests)
{
	struct traces_ctx shown;

	return !bpf_map_lookup_elem(traces, &thread, &shown) &&
	       is_request(requests, traces_ctx_span(&shown));
}

/* Whose contexts are withdrawn. */
struct whose {
	bool (*is_one)(__u32 tgid, void *data); /* NULL: everybody's */
	void *data;
};

/* Take ours out of the map. */
static void withdraw(int traces, int fd, const struct whose *whose)
{
	_cleanup_free_ void *value = value_of(fd);
	struct requests_map requests = {.fd = fd, .value = value};
	struct bpf_map_info info;
	__u64 thread, next;
	int err;

	if (!value || map_info(fd, &info) || !is_traces_map(traces))
		return;
	requests.hash = info.type == BPF_MAP_TYPE_HASH;
	for (err = bpf_map_get_next_key(traces, NULL, &next); !err;) {
		thread = next;
		err = bpf_map_get_next_key(traces, &thread, &next);
		if (whose->is_one && !whose->is_one((__u32)(thread >> 32), whose->data))
			continue;
		if (is_ours(traces, thread, &requests))
			bpf_map_delete_elem(traces, &thread);
	}
}

static void withdraw_from(const char *layer_dir, const struct whose *whose)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int requests = bpf_obj_get(pins_map_path(path, layer_dir, "requests"));
	_cleanup_close_ int traces = bpf_obj_get(NODE_TRACES_PATH);

	withdraw(traces, requests, whose);
}

void node_contexts_withdraw(const char *layer_dir)
{
	stop_probes(layer_dir);
	withdraw_from(layer_dir, &(struct whose){});
}

void node_contexts_withdraw_of(bool (*is_one)(__u32 tgid, void *data), void *data)
{
	withdraw_from(node_maps_layer_dir(), &(struct whose){is_one, data});
}

static bool is_process(__u32 tgid, void *data)
{
	return tgid == *(const __u32 *)data;
}

void node_contexts_withdraw_process(__u32 tgid)
{
	node_contexts_withdraw_of(is_process, &tgid);
}
