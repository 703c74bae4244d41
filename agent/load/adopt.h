/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the maps that an earlier daemon pinned fit this build. */
#ifndef CTXPROP_ADOPT_H
#define CTXPROP_ADOPT_H

#include <stdbool.h>
#include <stddef.h>
#include <bpf/libbpf.h>

enum adoption {
	ADOPT_NOTHING, /* no layer there, or one that was never finished */
	ADOPT_ALL,     /* every pinned map fits */
	ADOPT_REFUSED, /* a finished layer of another layout */
};

/*
 * Compare the layer's pinned maps with those of an opened object. For ADOPT_REFUSED, `ret_why` says
 * which map differs first, and how.
 */
enum adoption adopt_judge(const char *layer_dir, const struct bpf_object *object, char *ret_why,
			  size_t size);

/*
 * Has the map that is pinned at `path` the layout of this map of an opened object? True, too, if
 * nothing is pinned there. If not, `ret_why` says what differs.
 */
bool adopt_fits(const char *path, const struct bpf_map *map, char *ret_why, size_t size);

/* Let the object use the layer's pinned maps. To be called before load. 0 or -errno. */
int adopt_maps(const char *layer_dir, struct bpf_object *object);

/*
 * Is this one of the layer's maps that outlive the daemon? Read-only data and scratch space do
 * not; maps of the node (see node_map_names.h) do, but are not the layer's.
 */
bool adopt_is_lasting(const struct bpf_map *map);

#endif
