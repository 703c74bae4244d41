/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way in for texts that others wrote: what requests say, names of programs, functions,
 * files and labels, environments, profiles and stores that may be of another host. From here on
 * they are UTF-8 that can be shown in a line (utf8_shown()); whatever is not was made U+FFFD.
 * What goes out relies on it, and repairs nothing.
 */
#ifndef CTXPROP_FOREIGN_H
#define CTXPROP_FOREIGN_H

#include <stddef.h>

/* Each byte may become so many. */
#define FOREIGN_GROWTH 3

/* Into a buffer of `size` bytes; what does not fit is cut off, at the end of a character. */
void foreign_copy(char *to, size_t size, const char *from);

/* The same of so many bytes; a NUL among them is none of the end. Returns the copy's length. */
size_t foreign_copy_bytes(char *to, size_t size, const char *from, size_t length);

/* The caller's to free; NULL: no memory. */
char *foreign_dup(const char *from);

/* On standard output. NULL is allowed. */
void foreign_print(const char *text);

#endif
