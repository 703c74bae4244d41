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

/* Does a record before this one name the same piece? */
static bool is_twice(const struct writers *writers, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (writers->record[i].piece == writers->record[at].piece)
			return true;
	return false;
}

enum writers_verdict writers_settle(const struct writers *writers, size_t bytes)
{
	size_t told = 0;

	if (writers->overflowed)
		return WRITERS_MISSING;
	for (size_t i = 0; i < writers->count; i++) {
		const struct line_record *record = &writers->record[i];

		if (record->sequence != (__u32)(writers->next + i))
			return WRITERS_MISSING;
		if (!record->piece || is_twice(writers, i))
			return WRITERS_RACED;
		told += record->size;
	}
	return told == bytes ? WRITERS_CERTAIN : WRITERS_MISSING;
}

void writers_forget(struct writers *writers)
{
	if (writers->count)
		writers->next = writers->record[writers->count - 1].sequence + 1;
	writers->count = 0;
	writers->overflowed = false;
}
