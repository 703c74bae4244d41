/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of optimised code: in which function does what runs in one? */
#ifndef CTXPROP_RUNTIMES_NODE_LOOP_H
#define CTXPROP_RUNTIMES_NODE_LOOP_H

#include "runtimes/node/code_object.h"

/*
 * Find the innermost loop that has an instruction, and in it the call by which V8 interrupts it.
 * Returns the number of that call's point (node_object_point()), or NODE_POINT_NONE.
 */
int node_loop_point(int memory, const struct node_object *object, __u64 pc);

#endif
