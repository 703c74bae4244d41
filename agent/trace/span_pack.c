// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "trace/span_pack.h"

/* All but the texts, which stand behind. */
#define FIXED offsetof(struct span, service)

#define TEXT(field) offsetof(struct span, field)

static const size_t texts[] = {
    TEXT(service.name),  TEXT(service.container),
    TEXT(service.owner), TEXT(service.attributes),
    TEXT(method),        TEXT(path),
    TEXT(route),         TEXT(host),
    TEXT(agent),
};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

size_t span_packed_size(const struct span *span)
{
	size_t size = FIXED;

	for (size_t i = 0; i < TEXTS; i++)
		size += strlen((const char *)span + texts[i]) + 1;
	return size;
}

void span_pack(const struct span *span, void *to)
{
	char *at = (char *)to + FIXED;

	memcpy(to, span, FIXED);
	for (size_t i = 0; i < TEXTS; i++)
		at = stpcpy(at, (const char *)span + texts[i]) + 1;
}

void span_unpack(const void *packed, struct span *ret_span)
{
	const char *at = (const char *)packed + FIXED;

	*ret_span = (struct span){};
	memcpy(ret_span, packed, FIXED);
	for (size_t i = 0; i < TEXTS; i++) {
		const size_t size = strlen(at) + 1;

		memcpy((char *)ret_span + texts[i], at, size);
		at += size;
	}
}
