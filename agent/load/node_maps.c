// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <bpf/bpf.h>

#include "abi.h"
#include "base/cleanup.h"
#include "load/adopt.h"
#include "load/node_maps.h"
#include "pins/pins.h"

#define TEXT(x)    TEXT_OF(x)
#define TEXT_OF(x) #x
#define LAYER_DIR  NODE_DIR "/v" TEXT(CTXPROP_ABI_VERSION)
/* Only the owner may use it, and nobody else rename it: as other writers of the map make it. */
#define TRACES_DIR_MODE 01700

const char *node_maps_layer_dir(void)
{
	return LAYER_DIR;
}

/* Of the map that others read the size is fixed, too. */
static bool fits_exactly(const char *path, const struct bpf_map *map, char *ret_why, size_t size)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct bpf_map_info info = {};
	__u32 info_size = sizeof(info);

	if (!adopt_fits(path, map, ret_why, size))
		return false;
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &info_size) ||
	    info.max_entries == bpf_map__max_entries(map))
		return true;
	snprintf(ret_why, size, "map %s has room for %u, not %u", bpf_map__name(map),
		 info.max_entries, bpf_map__max_entries(map));
	return false;
}

bool node_maps_fit(const struct bpf_object *object, char *ret_why, size_t size)
{
	const struct bpf_map *map;
	char path[PINS_PATH_MAX];

	bpf_object__for_each_map(map, object)
	{
		pins_map_path(path, LAYER_DIR, bpf_map__name(map));
		if (node_maps_has(bpf_map__name(map)) && !adopt_fits(path, map, ret_why, size))
			return false;
	}
	return true;
}

static int make_traces_dir(void)
{
	if (!mkdir(NODE_TRACES_DIR, TRACES_DIR_MODE))
		return chmod(NODE_TRACES_DIR, TRACES_DIR_MODE) ? -errno : 0;
	return errno == EEXIST ? 0 : -errno;
}

/* Where the map that profilers read can be pinned; a pin of another shape is left alone. */
static const char *traces_path(const struct bpf_map *map, char *ret_why, size_t size)
{
	int err = make_traces_dir();

	if (err)
		snprintf(ret_why, size, "%s: %s", NODE_TRACES_DIR, strerror(-err));
	return !err && fits_exactly(NODE_TRACES_PATH, map, ret_why, size) ? NODE_TRACES_PATH : NULL;
}

/*
 * libbpf uses a pinned map only if it has the wanted size, so the size of a pinned table is set
 * first.
 */
static int take_size(struct bpf_map *map, const char *path)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return 0;
	return bpf_map__set_max_entries(map, info.max_entries);
}

static int share(struct bpf_map *map, char *ret_unpublished, size_t size)
{
	const char *path = NULL;
	char own[PINS_PATH_MAX];
	int err;

	if (!strcmp(bpf_map__name(map), NODE_TRACES_NAME))
		path = traces_path(map, ret_unpublished, size);
	if (!path)
		path = pins_map_path(own, LAYER_DIR, bpf_map__name(map));
	err = take_size(map, path);
	return err ? err : bpf_map__set_pin_path(map, path);
}

int node_maps_share(struct bpf_object *object, char *ret_unpublished, size_t size)
{
	char ignored[128];
	struct bpf_map *map;
	int err = 0;

	if (!ret_unpublished) {
		ret_unpublished = ignored;
		size = sizeof(ignored);
	}
	ret_unpublished[0] = '\0';
	bpf_object__for_each_map(map, object)
	{
		if (!err && node_maps_has(bpf_map__name(map)))
			err = share(map, ret_unpublished, size);
	}
	return err;
}
