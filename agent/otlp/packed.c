// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "otlp/packed.h"

/* What stands before the texts is kept as it is. */
#define FIXED (offsetof(struct span, service) + offsetof(struct service, attributes))

/* The texts, which are all that stands behind it. */
#define TEXTS(X) X(service.attributes) X(method) X(path) X(route) X(host) X(agent)

#define TEXT_SIZE(name) +sizeof(((struct span *)NULL)->name)
_Static_assert(FIXED + (0 TEXTS(TEXT_SIZE)) <= sizeof(struct span) &&
		   sizeof(struct span) - FIXED - (0 TEXTS(TEXT_SIZE)) < _Alignof(struct span),
	       "these are all the texts, and nothing stands behind them");

struct packed {
	__s64 boot_to_wall_ns;
	char bytes[]; /* FIXED of the span, then its texts, each with its NUL */
};

struct packed *packed_new(const struct span *span, __s64 boot_to_wall_ns)
{
#define TEXT(name) span->name,
	const char *const texts[] = {TEXTS(TEXT)};
#undef TEXT
	size_t size = FIXED;
	struct packed *packed;
	char *end;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		size += strlen(texts[i]) + 1;
	packed = malloc(sizeof(*packed) + size);
	if (!packed)
		return NULL;
	packed->boot_to_wall_ns = boot_to_wall_ns;
	memcpy(packed->bytes, span, FIXED);
	end = packed->bytes + FIXED;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		end = stpcpy(end, texts[i]) + 1;
	return packed;
}

void packed_read(const struct packed *packed, struct span *ret_span, __s64 *ret_boot_to_wall_ns)
{
#define TEXT(name) {ret_span->name, sizeof(ret_span->name)},
	const struct {
		char *to;
		size_t size;
	} texts[] = {TEXTS(TEXT)};
#undef TEXT
	const char *at = packed->bytes + FIXED;

	*ret_boot_to_wall_ns = packed->boot_to_wall_ns;
	memcpy(ret_span, packed->bytes, FIXED);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		text_copy(texts[i].to, texts[i].size, at);
		at += strlen(at) + 1;
	}
}
