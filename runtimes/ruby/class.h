/* SPDX-License-Identifier: Apache-2.0 */
/* Classes and modules of Ruby, in the memory of another process. `layout`: enum ruby_code_layout.
 */
#ifndef CTXPROP_RUNTIMES_RUBY_CLASS_H
#define CTXPROP_RUNTIMES_RUBY_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * What stands before the name of a method of this class or module: "Shop::Cart#", or "Shop." where
 * it is a singleton class. Returns whether it has such a name, for ever, and that has room.
 */
bool ruby_class_read(int memory, __u64 owner, int layout, char *ret, size_t size);

/* A check word to which is added what tells it from others; as the sampler does it. */
__u64 ruby_class_check(int memory, __u64 owner, int layout, __u64 check);

#endif
