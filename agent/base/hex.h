/* SPDX-License-Identifier: Apache-2.0 */
/* Ids as people read them: two lower-case hex digits for each byte, in the order of the bytes. */
#ifndef CTXPROP_HEX_H
#define CTXPROP_HEX_H

#include <stddef.h>

/* Bytes of a buffer for the text of `size` bytes, its NUL included. */
#define HEX_TEXT(size) (2 * (size) + 1)

/* A trace id and a span id. */
#define HEX_TRACE HEX_TEXT(16)
#define HEX_SPAN  HEX_TEXT(8)

/*
 * Write `size` bytes as hex into `ret_text`, which has room for HEX_TEXT(size). Returns `ret_text`.
 */
char *hex_text(char *ret_text, const void *bytes, size_t size);

#endif
