/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of Ruby, in the memory of another process. */
#ifndef CTXPROP_RUNTIMES_RUBY_TEXT_H
#define CTXPROP_RUNTIMES_RUBY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * The characters of a String, with a NUL. `layout`: enum ruby_code_layout. Returns whether it is
 * one that has room, is not empty, and can be shown in a line.
 */
bool ruby_text(int memory, __u64 object, int layout, char *ret, size_t size);

#endif
