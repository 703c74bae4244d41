/* SPDX-License-Identifier: Apache-2.0 */
#include "response.h"

#include <errno.h>
#include <string.h>

static int refuse(const char **ret_why, const char *why)
{
	*ret_why = why;
	return -EPROTO;
}

static int read_status(const struct head *head, struct response *response, const char **ret_why)
{
	const char *line = (const char *)head->bytes.data;
	uint64_t status;

	if (head_start_len(head) < 13 || memcmp(line, "HTTP/1.1 ", 9) != 0 || line[12] != ' ')
		return refuse(ret_why, "the answer does not begin with an HTTP/1.1 status line");
	if (text_number(line + 9, 3, &status))
		return refuse(ret_why, "the answer's status is not a number");
	response->status = (unsigned int)status;
	return 0;
}

static bool is_bodyless(const struct plan *plan, unsigned int status)
{
	return status < 200 || status == 204 || status == 304 || plan->is_head ||
	       (plan->stream == STREAM_CONNECT && status == 200);
}

static int read_fields(const struct head *head, struct response *response, const char **ret_why)
{
	struct field field;
	int err = head_check(head, ret_why);

	if (!err)
		err = body_framing(head, &response->kind, &response->length, ret_why);
	if (err)
		return err;
	response->has_report = head_find(head, "X-Chaos", &field) == 1;
	if (response->has_report && report_read(&field, &response->report))
		return refuse(ret_why, "the X-Chaos field is damaged");
	return 0;
}

/* The server's own words, where it could not read the request. */
static const char *refusal(const struct head *head)
{
	static char text[160];
	struct field field;
	size_t n;

	if (head_find(head, "X-Error", &field) != 1)
		return "the server could not read the request";
	n = field.value_len < sizeof(text) - 1 ? field.value_len : sizeof(text) - 1;
	memcpy(text, field.value, n);
	text[n] = 0;
	return text;
}

int response_read(const struct head *head, const struct plan *plan, struct response *ret_response,
		  const char **ret_why)
{
	int err;

	*ret_response = (struct response){0};
	err = read_status(head, ret_response, ret_why);
	if (!err)
		err = read_fields(head, ret_response, ret_why);
	if (err)
		return err;
	if (ret_response->status == 400)
		return refuse(ret_why, refusal(head));
	if (is_bodyless(plan, ret_response->status))
		ret_response->kind = BODY_NONE;
	else if (ret_response->kind == BODY_NONE)
		ret_response->kind = BODY_UNTIL_CLOSE;
	if (ret_response->status >= 101 && ret_response->status != 103 && !ret_response->has_report)
		return refuse(ret_why, "the answer has no X-Chaos field");
	return 0;
}
