// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "load/adopt.h"
#include "load/layout.h"
#include "load/node_map_names.h"
#include "pins/pins.h"

bool adopt_is_lasting(const struct bpf_map *map)
{
	const char *name = bpf_map__name(map);

	return !bpf_map__is_internal(map) && strcmp(name, "scratch") != 0 &&
	       strcmp(name, "note") != 0 && !node_maps_has(name);
}

/* Hash tables keep their size from one daemon to the next; arrays are indexed by meaning. */
static bool is_sized_by_option(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_HASH ||
	       bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH;
}

/* Which property of the pinned map differs from that of the wanted one; NULL: none that matters. */
static const char *difference(const struct bpf_map_info *pinned, const struct bpf_map *map)
{
	if (pinned->type != bpf_map__type(map))
		return "type";
	if (pinned->key_size != bpf_map__key_size(map))
		return "key size";
	if (pinned->value_size != bpf_map__value_size(map))
		return "value size";
	if (pinned->map_flags != bpf_map__map_flags(map))
		return "flags";
	if (!is_sized_by_option(map) && pinned->max_entries != bpf_map__max_entries(map))
		return "size";
	return NULL;
}

bool adopt_fits(const char *path, const struct bpf_map *map, char *ret_why, size_t size)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct bpf_map_info info = {};
	__u32 info_size = sizeof(info);
	const char *differs;

	if (fd == -ENOENT)
		return true; /* new in this build: made and pinned beside the others */
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &info_size)) {
		snprintf(ret_why, size, "map %s cannot be opened", bpf_map__name(map));
		return false;
	}
	differs = difference(&info, map);
	if (differs)
		snprintf(ret_why, size, "map %s has another %s", bpf_map__name(map), differs);
	return !differs;
}

enum adoption adopt_judge(const char *layer_dir, const struct bpf_object *object, char *ret_why,
			  size_t size)
{
	int err = layout_check(layer_dir, ret_why, size);
	const struct bpf_map *map;
	char path[PINS_PATH_MAX];

	if (err)
		return err == -ENOENT ? ADOPT_NOTHING : ADOPT_REFUSED;
	bpf_object__for_each_map(map, object)
	{
		pins_map_path(path, layer_dir, bpf_map__name(map));
		if (adopt_is_lasting(map) && !adopt_fits(path, map, ret_why, size))
			return ADOPT_REFUSED;
	}
	return ADOPT_ALL;
}

int adopt_maps(const char *layer_dir, struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		char path[PINS_PATH_MAX];
		int err;

		if (!adopt_is_lasting(map))
			continue;
		_cleanup_close_ int fd =
		    bpf_obj_get(pins_map_path(path, layer_dir, bpf_map__name(map)));

		if (fd == -ENOENT)
			continue;
		err = fd < 0 ? fd : bpf_map__reuse_fd(map, fd);
		if (err)
			return err;
	}
	return 0;
}
