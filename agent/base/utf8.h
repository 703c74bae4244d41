/* SPDX-License-Identifier: Apache-2.0 */
/* Characters of UTF-8, and which of them can be shown. Texts of others: foreign.h. */
#ifndef CTXPROP_UTF8_H
#define CTXPROP_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Bytes of the character at the beginning of a text (RFC 3629); 0: it is none, or the text ends. */
size_t utf8_length(const char *text);

/*
 * The same for a character that can be shown in a line. Also 0 for one that controls a terminal
 * (C0, DEL, C1), ends a line, changes the direction of writing, or is not in Unicode.
 */
size_t utf8_shown(const char *text);

/*
 * Can all of it be shown in a line? If the text was cut (`is_cut`), an incomplete character at its
 * end is removed first.
 */
bool utf8_is_line(char *text, bool is_cut);

/*
 * Encode a character, without a NUL: UTF8_MAX bytes at most. '?' for one that cannot be shown in a
 * line, or is invalid. Returns the number of bytes.
 */
#define UTF8_MAX 4
size_t utf8_encode(__u32 character, char ret[UTF8_MAX]);

#endif
