// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <bpf/libbpf.h>

#include "connections_bpf.skel.h"
#include "load/connections.h"

struct connections {
	struct connections_bpf *skeleton;
};

static int share_maps(struct connections_bpf *skeleton, const struct connections_maps *maps)
{
	const struct {
		struct bpf_map *map;
		int fd;
	} shared[] = {
	    {skeleton->maps.records, maps->records_fd},
	    {skeleton->maps.recording, maps->recording_fd},
	    {skeleton->maps.attended, maps->attended_fd},
	    {skeleton->maps.counters, maps->counters_fd},
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(shared) / sizeof(shared[0]); i++)
		err = bpf_map__reuse_fd(shared[i].map, shared[i].fd);
	return err;
}

static int load(struct connections_bpf *skeleton, const struct connections_maps *maps)
{
	int err = share_maps(skeleton, maps);

	skeleton->rodata->only_netns = maps->netns;
	if (!err)
		err = connections_bpf__load(skeleton);
	return err ? err : connections_bpf__attach(skeleton);
}

int connections_open(const struct connections_maps *maps, struct connections **ret_connections)
{
	struct connections *connections = calloc(1, sizeof(*connections));
	int err;

	if (!connections)
		return -ENOMEM;
	connections->skeleton = connections_bpf__open();
	err = connections->skeleton ? load(connections->skeleton, maps) : -errno;
	if (err)
		connections_close(connections);
	else
		*ret_connections = connections;
	return err;
}

void connections_close(struct connections *connections)
{
	if (!connections)
		return;
	connections_bpf__destroy(connections->skeleton);
	free(connections);
}
