/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that V8 knows optimised code to be in at a point: they were put one into the other. */
#ifndef CTXPROP_RUNTIMES_NODE_TRANSLATION_H
#define CTXPROP_RUNTIMES_NODE_TRANSLATION_H

#include <stddef.h>

#include "runtimes/node/code_object.h"

#define NODE_FRAMES_MAX 24

/*
 * Read the functions at a point of node_object_point(): addresses of SharedFunctionInfos, the
 * outermost first, which is that whose code it is. Returns how many there are; 0: it cannot be
 * told.
 */
size_t node_translation_read(int memory, const struct node_object *object, int point,
			     __u64 ret_infos[NODE_FRAMES_MAX]);

#endif
