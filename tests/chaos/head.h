/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads of HTTP/1 messages, read pedantically: exactly CR LF line ends, no folding, no blank before
 * the colon, no control characters. Independent of the parsers of ctxprop on purpose.
 */
#ifndef CHAOS_HEAD_H
#define CHAOS_HEAD_H

#include "buffer.h"

#include <stdbool.h>
#include <sys/types.h>

#define HEAD_MAX ((size_t)128 * 1024)

/* A head being collected; `bytes` ends with the blank line once `complete`. */
struct head {
	struct buffer bytes;
	bool complete;
};

/* One header field; the pointers stand in the head's bytes. `line` includes its CR LF. */
struct field {
	const char *line, *name, *value;
	size_t line_len, name_len, value_len;
};

/*
 * Take bytes of the stream until the head is complete. Returns how many were consumed,
 * or -EMSGSIZE when the head is longer than HEAD_MAX.
 */
ssize_t head_collect(struct head *head, const uint8_t *data, size_t len);

/* Forget the head and start on the next one; keeps the memory. */
void head_reset(struct head *head);

/*
 * Check all lines after the start line. 0, or -EPROTO with a text in `*ret_why` that says
 * what is wrong.
 */
int head_check(const struct head *head, const char **ret_why);

/* Length of the start line without its CR LF. Only for a complete head. */
size_t head_start_len(const struct head *head);

/*
 * Step through the fields of a checked head: `*cursor` is 0 at first. False at the end.
 * Blanks around the value are left out.
 */
bool head_next(const struct head *head, size_t *cursor, struct field *ret_field);

/* True when the field has this name, in any case. */
bool field_is(const struct field *field, const char *name);

/* The only field with this name. 1 found, 0 absent, -EEXIST when there are several. */
int head_find(const struct head *head, const char *name, struct field *ret_field);

/* True when `value` (with its length) is exactly this text, in any case. */
bool text_is(const char *value, size_t len, const char *text);

/* True for characters of an HTTP token (RFC 9110, section 5.6.2). */
bool is_token(unsigned char c);

/* A decimal number that fills the text. 0, or -EINVAL (empty, other characters, too large). */
int text_number(const char *text, size_t len, uint64_t *ret_number);

#endif
