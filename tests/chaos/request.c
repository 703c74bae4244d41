/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include "hash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int refuse(const char **ret_why, const char *why)
{
	*ret_why = why;
	return -EPROTO;
}

static bool valid_target(const char *from, const char *to)
{
	if (from >= to)
		return false;
	for (; from < to; from++) {
		if ((unsigned char)*from <= ' ' || *from == 0x7f)
			return false;
	}
	return true;
}

static int read_line(const struct head *head, struct request *request, const char **ret_why)
{
	const char *line = (const char *)head->bytes.data;
	const char *end = line + head_start_len(head), *method = line, *version = end - 9;

	while (method < end && is_token((unsigned char)*method))
		method++;
	if (method == line || method == end || *method != ' ')
		return refuse(ret_why, "the request line does not begin with a method and a space");
	if (version <= method || memcmp(version, " HTTP/1.", 8) != 0 ||
	    (end[-1] != '0' && end[-1] != '1'))
		return refuse(ret_why, "the request line does not end with HTTP/1.0 or HTTP/1.1");
	if (!valid_target(method + 1, version))
		return refuse(ret_why, "the request target is empty or has a forbidden character");
	request->is_http10 = end[-1] == '0';
	request->is_head = method - line == 4 && !memcmp(line, "HEAD", 4);
	if (method - line == 7 && !memcmp(line, "CONNECT", 7))
		request->tunnel = TUNNEL_CONNECT;
	return 0;
}

static bool field_has(const struct head *head, const char *name, const char *value)
{
	struct field field;

	return head_find(head, name, &field) == 1 && text_is(field.value, field.value_len, value);
}

static void keep_value(const struct field *field, struct report *report)
{
	size_t n = field->value_len < TALK_VALUE_MAX - 1 ? field->value_len : TALK_VALUE_MAX - 1;

	memcpy(report->value, field->value, n);
	for (size_t i = 0; i < n; i++) {
		if (report->value[i] <= ' ' || report->value[i] == 0x7f)
			report->value[i] = '?';
	}
	report->value[n] = 0;
}

/* What is left of a traceparent that was stripped: another name, and no value that means anything.
 */
static bool is_stripped(const struct field *field)
{
	for (size_t i = 0; i < field->value_len; i++) {
		if (field->value[i] != '=')
			return false;
	}
	return field_is(field, "x-ctxprop-0");
}

/* Hash the head and its traceparent lines apart from each other. */
static void read_traceparent(const struct head *head, struct report *report)
{
	size_t start = head_start_len(head) + 2, cursor = 0;
	struct field field;

	report->head_hash = hash_bytes(HASH_EMPTY, head->bytes.data, start);
	report->line_hash = HASH_EMPTY;
	while (head_next(head, &cursor, &field)) {
		bool ours = field_is(&field, "traceparent");

		if (is_stripped(&field))
			continue;
		uint64_t *hash = ours ? &report->line_hash : &report->head_hash;

		*hash = hash_bytes(*hash, field.line, field.line_len);
		if (ours && !report->count++)
			keep_value(&field, report);
	}
}

int request_read(const struct head *head, struct request *ret_request, const char **ret_why)
{
	struct field ask;
	int err;

	*ret_request = (struct request){0};
	err = read_line(head, ret_request, ret_why);
	if (!err)
		err = head_check(head, ret_why);
	if (!err)
		err =
		    body_framing(head, &ret_request->body_kind, &ret_request->body_length, ret_why);
	if (err)
		return err;
	if (head_find(head, "X-Ask", &ask) != 1 || ask_read(&ask, &ret_request->ask))
		return refuse(ret_why, "the X-Ask field is absent, repeated or damaged");
	ret_request->report.id = ret_request->ask.id;
	ret_request->expects = field_has(head, "Expect", "100-continue");
	ret_request->closes =
	    field_has(head, "Connection", "close") ||
	    (ret_request->is_http10 && !field_has(head, "Connection", "keep-alive"));
	if (field_has(head, "Upgrade", "chaos"))
		ret_request->tunnel = TUNNEL_UPGRADE;
	read_traceparent(head, &ret_request->report);
	return 0;
}
