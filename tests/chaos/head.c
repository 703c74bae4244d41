/* SPDX-License-Identifier: Apache-2.0 */
#include "head.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

static const char blank_line[4] = {'\r', '\n', '\r', '\n'};

ssize_t head_collect(struct head *head, const uint8_t *data, size_t len)
{
	struct buffer *bytes = &head->bytes;
	size_t before = bytes->len;
	size_t from = before > 3 ? before - 3 : 0;
	const uint8_t *end;

	if (before >= HEAD_MAX)
		return -EMSGSIZE;
	if (len > HEAD_MAX - before)
		len = HEAD_MAX - before;
	buffer_append(bytes, data, len);
	end = memmem(bytes->data + from, bytes->len - from, blank_line, sizeof(blank_line));
	if (!end)
		return (ssize_t)len;
	bytes->len = (size_t)(end - bytes->data) + sizeof(blank_line);
	head->complete = true;
	return (ssize_t)(bytes->len - before);
}

void head_reset(struct head *head)
{
	head->bytes.len = 0;
	head->complete = false;
}

bool is_token(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_value(unsigned char c)
{
	return c == '\t' || (c >= ' ' && c != 0x7f);
}

static const char *check_line(const char *line, size_t len)
{
	size_t colon = 0;

	while (colon < len && is_token((unsigned char)line[colon]))
		colon++;
	if (!colon)
		return "a header line does not begin with a field name";
	if (colon == len || line[colon] != ':')
		return "a field name is not followed by a colon";
	for (size_t i = colon + 1; i < len; i++) {
		if (!is_value((unsigned char)line[i]))
			return "a field value has a control character";
	}
	return NULL;
}

size_t head_start_len(const struct head *head)
{
	const char *data = (const char *)head->bytes.data;

	return (size_t)((const char *)memmem(data, head->bytes.len, "\r\n", 2) - data);
}

int head_check(const struct head *head, const char **ret_why)
{
	const char *data = (const char *)head->bytes.data;
	size_t end = head->bytes.len - 2;
	size_t at = head_start_len(head) + 2;

	while (at < end) {
		size_t len =
		    (size_t)((const char *)memmem(data + at, end - at, "\r\n", 2) - (data + at));
		const char *why = check_line(data + at, len);

		if (why) {
			*ret_why = why;
			return -EPROTO;
		}
		at += len + 2;
	}
	return 0;
}

bool head_next(const struct head *head, size_t *cursor, struct field *ret_field)
{
	const char *data = (const char *)head->bytes.data;
	size_t at = *cursor ? *cursor : head_start_len(head) + 2;
	size_t end = head->bytes.len - 2;
	const char *line = data + at, *colon, *stop;

	if (at >= end)
		return false;
	stop = memmem(line, end - at, "\r\n", 2);
	colon = memchr(line, ':', (size_t)(stop - line));
	*ret_field = (struct field){
	    .line = line,
	    .line_len = (size_t)(stop - line) + 2,
	    .name = line,
	    .name_len = (size_t)(colon - line),
	    .value = colon + 1,
	};
	while (ret_field->value < stop && is_blank(*ret_field->value))
		ret_field->value++;
	while (stop > ret_field->value && is_blank(stop[-1]))
		stop--;
	ret_field->value_len = (size_t)(stop - ret_field->value);
	*cursor = at + ret_field->line_len;
	return true;
}

bool text_is(const char *value, size_t len, const char *text)
{
	return len == strlen(text) && !strncasecmp(value, text, len);
}

bool field_is(const struct field *field, const char *name)
{
	return text_is(field->name, field->name_len, name);
}

int head_find(const struct head *head, const char *name, struct field *ret_field)
{
	struct field field;
	size_t cursor = 0;
	int found = 0;

	while (head_next(head, &cursor, &field)) {
		if (!field_is(&field, name))
			continue;
		if (found++)
			return -EEXIST;
		*ret_field = field;
	}
	return found;
}

int text_number(const char *text, size_t len, uint64_t *ret_number)
{
	uint64_t number = 0;

	if (!len || len > 18)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		number = number * 10 + (uint64_t)(text[i] - '0');
	}
	*ret_number = number;
	return 0;
}
