/* SPDX-License-Identifier: Apache-2.0 */
/* The node's maps (node_map_names.h): where they are pinned, and how objects come to use them. */
#ifndef CTXPROP_NODE_MAPS_H
#define CTXPROP_NODE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <bpf/libbpf.h>

#include "load/node_map_names.h"

#define NODE_DIR         "/sys/fs/bpf/ctxprop/node"
#define NODE_TRACES_DIR  "/sys/fs/bpf/otel"
#define NODE_TRACES_PATH NODE_TRACES_DIR "/" NODE_TRACES_NAME

/*
 * Let an opened object use the node's maps, in the sizes that they have, pinning those that are not
 * there yet, when it is loaded. `ret_unpublished` (may be NULL) says why contexts cannot be
 * published in NODE_TRACES_DIR, empty if they can; if they cannot, a map of our own is used
 * instead. 0 or -errno.
 */
int node_maps_share(struct bpf_object *object, char *ret_unpublished, size_t size);

/* Do the pinned maps have the layout of this build? If not, `ret_why` says which has not. */
bool node_maps_fit(const struct bpf_object *object, char *ret_why, size_t size);

/* The directory of this build's version of the node layer. */
const char *node_maps_layer_dir(void);

#endif
