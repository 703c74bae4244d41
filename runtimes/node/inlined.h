/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that V8's compilers have put into the one whose optimised code a frame runs. */
#ifndef CTXPROP_RUNTIMES_NODE_INLINED_H
#define CTXPROP_RUNTIMES_NODE_INLINED_H

#include "runtimes/names.h"
#include "runtimes/node/translation.h"

/*
 * Read which functions a pair of the sampler is in (code_layout.h): SharedFunctionInfos, the
 * outermost first, without that whose code it is. Returns how many there are, or -ESTALE: other
 * code is there, or another function; -ENOENT: none is, or it cannot be told.
 */
int node_inlined_read(int memory, const struct named_code *named,
		      __u64 ret_infos[NODE_FRAMES_MAX]);

#endif
