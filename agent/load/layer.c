// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "load/layer.h"
#include "load/layout.h"

/* A layer is finished when this map is in it. */
#define LAST_MAP "version"

static int map_id(const char *layer_dir, const char *map, __u32 *ret_id)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(path, layer_dir, map));
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	int err = fd < 0 ? fd : bpf_obj_get_info_by_fd(fd, &info, &size);

	if (!err)
		*ret_id = info.id;
	return err;
}

bool layer_has_maps_of(const char *layer_dir, const char *from)
{
	__u32 ours, theirs;

	return !map_id(layer_dir, "flows", &ours) && !map_id(from, "flows", &theirs) &&
	       ours == theirs;
}

static int pin_at(const char *path, const char *layer_dir, const char *name)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	char to[PINS_PATH_MAX];
	int err = fd < 0 ? fd : bpf_obj_pin(fd, pins_map_path(to, layer_dir, name));

	return err == -EEXIST ? 0 : err;
}

static int pin_if_not_last(const char *path, const char *name, void *data)
{
	return strcmp(name, LAST_MAP) ? pin_at(path, data, name) : 0;
}

static int share_maps(const char *layer_dir, const char *from)
{
	char maps[PINS_PATH_MAX], last[PINS_PATH_MAX];
	int err = pins_each(pins_join(maps, from, "maps"), pin_if_not_last, (void *)layer_dir);

	return err ? err : pin_at(pins_map_path(last, from, LAST_MAP), layer_dir, LAST_MAP);
}

/* What stands at the layer's place and is not it. */
static int clear_place(const struct pins *pins, const char *from, bool *ret_set_aside)
{
	char why[128];
	int err;

	if (access(pins->layer_dir, F_OK) || layer_has_maps_of(pins->layer_dir, from))
		return 0;
	if (layout_check(pins->layer_dir, why, sizeof(why)) == -ENOENT)
		return pins_remove_tree(pins->layer_dir);
	err = pins_set_aside(pins);
	*ret_set_aside = !err;
	return err;
}

int layer_share(const struct pins *pins, const char *from, bool *ret_set_aside)
{
	int err;

	*ret_set_aside = false;
	err = clear_place(pins, from, ret_set_aside);
	if (!err)
		err = pins_make_layer(pins->layer_dir);
	return err ? err : share_maps(pins->layer_dir, from);
}
