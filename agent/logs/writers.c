// SPDX-License-Identifier: Apache-2.0
#include "logs/writers.h"

/* Numbers go round. */
static bool is_before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

void writers_add(struct writers *writers, const struct line_record *record)
{
	size_t at = writers->count;

	if (at == WRITERS_MAX) {
		writers->overflowed = true;
		return;
	}
	for (; at && is_before(record->sequence, writers->record[at - 1].sequence); at--)
		writers->record[at] = writers->record[at - 1];
	writers->record[at] = *record;
	writers->count++;
}

void writers_read(struct writers *writers, size_t bytes)
{
	writers->bytes += bytes;
}

/* Does a record before this one name the same piece? */
static bool is_twice(const struct writers *writers, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (writers->record[i].piece == writers->record[at].piece)
			return true;
	return false;
}

bool writers_settle(struct writers *writers)
{
	size_t bytes = 0;

	if (writers->overflowed)
		return false;
	for (size_t i = 0; i < writers->count; i++) {
		const struct line_record *record = &writers->record[i];

		if (record->sequence != writers->next + i || !record->piece || is_twice(writers, i))
			return false;
		bytes += record->size;
	}
	return bytes == writers->bytes;
}

void writers_forget(struct writers *writers)
{
	__u32 next =
	    writers->count ? writers->record[writers->count - 1].sequence + 1 : writers->next;

	writers->next = next;
	writers->count = writers->bytes = 0;
	writers->overflowed = false;
}

bool writers_are_idle(const struct writers *writers)
{
	return !writers->count && !writers->bytes && !writers->overflowed;
}
