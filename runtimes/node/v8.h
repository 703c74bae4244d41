/* SPDX-License-Identifier: Apache-2.0 */
/* What the file that V8 is in tells about it. */
#ifndef CTXPROP_RUNTIMES_NODE_V8_H
#define CTXPROP_RUNTIMES_NODE_V8_H

#include "inspect/elf_image.h"
#include "runtimes/node/code_layout.h"

/*
 * A number of 32 bits that V8 publishes for debuggers, by the name behind `v8dbg_`. 0 if there is
 * none of that name, or it is negative.
 */
__u32 v8_published(struct elf_image *image, const char *name);

/*
 * Where V8's own code is, and what leads from functions to their names. 0; -ENOTSUP: not even the
 * code is known. Names are known of versions only whose ScopeInfo is (`function`).
 */
int v8_code(struct elf_image *image, struct node_code *ret_code);

#endif
