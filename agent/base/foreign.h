/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every text that others wrote comes in here: what requests say, names of programs, functions,
 * files and labels, environments, profiles and stores that may be of another host. From here on it
 * is UTF-8 that can be shown in a line (utf8_shown()); everything else has become U+FFFD. Code that
 * prints or sends texts relies on it, and repairs nothing.
 */
#ifndef CTXPROP_FOREIGN_H
#define CTXPROP_FOREIGN_H

#include <stddef.h>

/* The most bytes that one byte of the original can become. */
#define FOREIGN_GROWTH 3

/* Copy into a buffer of `size` bytes; what does not fit is cut off at the end of a character. */
void foreign_copy(char *to, size_t size, const char *from);

/*
 * The same for `length` bytes, in which a NUL is a character like any other. Returns the length of
 * the copy.
 */
size_t foreign_copy_bytes(char *to, size_t size, const char *from, size_t length);

/* A copy, which the caller frees; NULL: no memory. */
char *foreign_dup(const char *from);

/* Print to standard output. NULL prints nothing. */
void foreign_print(const char *text);

#endif
