/* SPDX-License-Identifier: Apache-2.0 */
/* Does a process run Node, and where are the functions that its stacks are looked at for? */
#ifndef CTXPROP_NODE_H
#define CTXPROP_NODE_H

#include "context/runtime.h"
#include "runtime/elf_image.h"

/*
 * Look at a process that runs the program of `image`; Node may be a library. 0: `ret_runtime` is of
 * kind RUNTIME_NODE, with addresses as in the process; -ENOENT: it is not Node, or one that is not
 * known; or -errno.
 */
int node_inspect(__u32 tgid, struct elf_image *image, struct runtime *ret_runtime);

#endif
