/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of V8, and texts among them, in the memory of another process. */
#ifndef CTXPROP_RUNTIMES_NODE_TEXT_H
#define CTXPROP_RUNTIMES_NODE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* The word at a byte of an object; 0: it cannot be read, or `object` is none. */
__u64 node_word(int memory, __u64 object, __u32 at);

/* The type of an object; 0: it is none. */
__u32 node_type(int memory, __u64 object);

/* Has the garbage collector taken it to another place, which it has yet to tell who refers to it? */
bool node_is_moved(int memory, __u64 object);

/*
 * The characters of a text as UTF-8, with a NUL, as far as there is room; '?' for what cannot be
 * shown. Returns whether it is a text that can be read.
 */
bool node_text(int memory, __u64 object, char *ret, size_t size);

#endif
