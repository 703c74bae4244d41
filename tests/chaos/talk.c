/* SPDX-License-Identifier: Apache-2.0 */
#include "talk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char talk_prefaces[TALK_PREFACES][TALK_PREFACE_LEN + 1] = {
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03tls-lookalike",
    "SSH-2.0-chaos_lookalik\r\n",
};

static const char kinds[] = {
    [BODY_NONE] = 'n', [BODY_LENGTH] = 'l', [BODY_CHUNKED] = 'c', [BODY_UNTIL_CLOSE] = 'e'};

void ask_write(const struct ask *ask, struct buffer *to)
{
	buffer_printf(to, "X-Ask: id=%" PRIu64 " status=%u kind=%c size=%" PRIu64 " early=%u\r\n",
		      ask->id, ask->status, kinds[ask->kind], ask->size, ask->early);
}

/* Copy a field's value as a string; true when it fits. */
static bool value_text(const struct field *field, char *to, size_t size)
{
	if (field->value_len >= size)
		return false;
	memcpy(to, field->value, field->value_len);
	to[field->value_len] = 0;
	return true;
}

int ask_read(const struct field *field, struct ask *ret_ask)
{
	char text[128], kind;
	const char *found;
	int end = -1;

	if (!value_text(field, text, sizeof(text)))
		return -EINVAL;
	sscanf(text, "id=%" SCNu64 " status=%u kind=%c size=%" SCNu64 " early=%u%n", &ret_ask->id,
	       &ret_ask->status, &kind, &ret_ask->size, &ret_ask->early, &end);
	if (end < 0 || text[end])
		return -EINVAL;
	found = memchr(kinds, kind, sizeof(kinds));
	if (!found)
		return -EINVAL;
	ret_ask->kind = (enum body_kind)(found - kinds);
	return 0;
}

void report_write(const struct report *report, struct buffer *to)
{
	buffer_printf(to,
		      "X-Chaos: id=%" PRIu64 " head=%016" PRIx64 " body=%016" PRIx64
		      " length=%" PRIu64 " count=%u line=%016" PRIx64 " value=%s\r\n",
		      report->id, report->head_hash, report->body_hash, report->body_length,
		      report->count, report->line_hash, report->value[0] ? report->value : "-");
}

int report_read(const struct field *field, struct report *ret_report)
{
	char text[320];
	int end = -1;

	if (!value_text(field, text, sizeof(text)))
		return -EINVAL;
	sscanf(text,
	       "id=%" SCNu64 " head=%16" SCNx64 " body=%16" SCNx64 " length=%" SCNu64
	       " count=%u line=%16" SCNx64 " value=%95s%n",
	       &ret_report->id, &ret_report->head_hash, &ret_report->body_hash,
	       &ret_report->body_length, &ret_report->count, &ret_report->line_hash,
	       ret_report->value, &end);
	return end < 0 || text[end] ? -EINVAL : 0;
}

void tunnel_reply_write(uint64_t length, uint64_t hash, struct buffer *to)
{
	buffer_printf(to, "%016" PRIx64 " %016" PRIx64 "\n", length, hash);
}

int tunnel_reply_read(const uint8_t *line, uint64_t *ret_length, uint64_t *ret_hash)
{
	char text[TALK_TUNNEL_REPLY + 1];
	int end = -1;

	memcpy(text, line, TALK_TUNNEL_REPLY);
	text[TALK_TUNNEL_REPLY] = 0;
	sscanf(text, "%16" SCNx64 " %16" SCNx64 "%n", ret_length, ret_hash, &end);
	return end == TALK_TUNNEL_REPLY - 1 && text[end] == '\n' ? 0 : -EINVAL;
}

uint64_t talk_answer_seed(uint64_t id)
{
	struct rng rng = rng_for(id, 7);

	return rng_next(&rng);
}
