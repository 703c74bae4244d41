// SPDX-License-Identifier: Apache-2.0
/*
 * What strangers can make of records: the bytes of heads, in pieces. The input is a row of records:
 * kind, length, bytes; the rest of each is made up.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_span(const struct span *span, void *data)
{
	size_t *length = data;

	*length += strlen(span->path) + strlen(span->route) + strlen(span->host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static size_t length;
	static struct join *join; /* for all inputs: it takes long to make one */

	if (!join && join_new(on_span, &length, &join))
		return 0;
	for (size_t at = 0, next; at + 2 < size; at = next) {
		struct record_begin begin = {.kind = data[at] % RECORD_KINDS,
					     .flags = data[at] >> 4,
					     .trace_flags = 1,
					     .span_id = 1};

		next = at + 2 + data[at + 1];
		if (next > size)
			next = size;
		begin.head_size = (uint16_t)(next - at - 2);
		begin.reason = data[at + 1] & 1;
		memcpy(begin.head, data + at + 2, begin.head_size);
		join_record(join, &begin, offsetof(struct record_begin, head) + begin.head_size);
	}
	join_expire(join, UINT64_MAX);
	return 0;
}
