/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which maps there is one of on a node: probes and packet programs of every network namespace share
 * them (bpf/engine/maps.bpf.h).
 */
#ifndef CTXPROP_NODE_MAP_NAMES_H
#define CTXPROP_NODE_MAP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define NODE_TRACES_NAME "traces_ctx_v1"

/* Is the map of this name one of the node's? */
bool node_maps_has(const char *name);

/* Number `i` of them, from 0 on; NULL: there are no more. */
const char *node_maps_name(size_t i);

#endif
