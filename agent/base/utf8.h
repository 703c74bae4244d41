/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of strangers may be any bytes; JSON and metrics have to be UTF-8. */
#ifndef CTXPROP_UTF8_H
#define CTXPROP_UTF8_H

#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Bytes of the character at the beginning of a text (RFC 3629); 0: it is none, or the text ends. */
size_t utf8_length(const char *text);

/*
 * A copy in which each byte that belongs to no character is U+FFFD. The caller's to free; NULL: no
 * memory.
 */
char *utf8_repair(const char *text);

#endif
