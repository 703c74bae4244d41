// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "abi.h"
#include "load/map_memory.h"
#include "load/node_maps.h"
#include "load/sizes.h"
#include "probes.skel.h"
#include "tc.skel.h"

#define TABLE_LEAST 1024
/* Of connections that speak HTTP/2, whose places are large. */
#define HTTP2_LEAST 64

/* May it have another size? Arrays are indexed by meaning, and one table is read by others. */
static bool is_sized(const struct bpf_map *map)
{
	return (bpf_map__type(map) == BPF_MAP_TYPE_HASH ||
		bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH) &&
	       strcmp(bpf_map__name(map), NODE_TRACES_NAME) != 0;
}

static __u32 halve(__u32 usual, __u32 least, __u32 times)
{
	if (usual < least)
		return usual;
	return usual >> times > least ? usual >> times : least;
}

static __u32 least_of(const struct bpf_map *map)
{
	return strncmp(bpf_map__name(map), "http2_", strlen("http2_")) ? TABLE_LEAST : HTTP2_LEAST;
}

/* Entries that a map, which still has its usual size, gets. */
static __u32 room(const struct bpf_map *map, const struct sizes *sizes)
{
	if (!strcmp(bpf_map__name(map), "flows"))
		return sizes->flows;
	return is_sized(map) ? halve(bpf_map__max_entries(map), least_of(map), sizes->halved)
			     : bpf_map__max_entries(map);
}

int sizes_set(struct bpf_object *object, const struct sizes *sizes)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, object)
	{
		if (!err && is_sized(map))
			err = bpf_map__set_max_entries(map, room(map, sizes));
	}
	return err;
}

/* What the maps of an object take when they are full, those of the node or the others. */
static __u64 most_of(const struct bpf_object *object, bool node, const struct sizes *sizes)
{
	const struct bpf_map *map;
	__u64 most = 0;

	bpf_object__for_each_map(map, object)
	{
		const struct bpf_map_info info = {.type = bpf_map__type(map),
						  .map_flags = bpf_map__map_flags(map),
						  .key_size = bpf_map__key_size(map),
						  .value_size = bpf_map__value_size(map),
						  .max_entries = room(map, sizes)};

		if (node_maps_has(bpf_map__name(map)) == node)
			most += map_memory_most(&info);
	}
	return most;
}

static void choose(__u64 memory, __u32 flows, const struct tc *tc, const struct probes *probes,
		   struct sizes *sizes)
{
	for (sizes->halved = 0;; sizes->halved++) {
		sizes->flows =
		    flows ? flows : halve(CTXPROP_FLOWS_DEFAULT, TABLE_LEAST, sizes->halved);
		sizes->most = most_of(tc->obj, false, sizes) + most_of(probes->obj, true, sizes);
		if (sizes->most <= memory / 2 || sizes->halved == SIZES_HALVED_MAX)
			return;
	}
}

int sizes_choose(__u64 memory, __u32 flows, struct sizes *ret_sizes)
{
	struct probes *probes = probes__open();
	struct tc *tc = tc__open();
	int err = probes && tc ? 0 : -errno;

	if (!err)
		choose(memory, flows, tc, probes, ret_sizes);
	probes__destroy(probes);
	tc__destroy(tc);
	return err;
}
