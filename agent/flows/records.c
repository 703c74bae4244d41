// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "flows/records.h"
#include "load/node_maps.h"
#include "pins/pins.h"
#include "records_bpf.skel.h"

static void cleanup_skeleton(struct records_bpf **skeleton)
{
	records_bpf__destroy(*skeleton);
}

int records_read(__u32 netns, struct told *ret_records)
{
	__attribute__((cleanup(cleanup_skeleton))) struct records_bpf *skeleton = NULL;
	char path[PINS_PATH_MAX];
	_cleanup_close_ int map =
	    bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), "sockets"));

	if (map < 0)
		return map;
	skeleton = records_bpf__open_and_load();
	if (!skeleton)
		return -errno;
	return told_read(skeleton->progs.record_sockets, map, sizeof(struct record_entry), netns,
			 ret_records);
}
