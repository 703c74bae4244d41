/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process of Node has V8's code, and what leads to the names of functions. */
#ifndef CTXPROP_RUNTIMES_NODE_COMPILED_H
#define CTXPROP_RUNTIMES_NODE_COMPILED_H

#include "runtimes/compiled.h"

/*
 * Look at a process; the file that V8 is in is read in a sandbox. 0; -ENOTSUP: V8 is of a version
 * that is not known; or -errno.
 */
int node_compiled_read(__u32 tgid, struct runtime_compiled *ret_compiled);

#endif
