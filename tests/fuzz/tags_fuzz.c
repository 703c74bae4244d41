// SPDX-License-Identifier: Apache-2.0
/* Rules for profiles: they are taken, or refused with a line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/tags.h"

#define LINE "line "

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[TAGS_WHY_MAX] = "";
	struct tags *tags;

	/* How many states "((x{9}){9}){9}" takes is for regcomp() to say, not for us. */
	if (memchr(data, '{', size))
		return 0;
	if (!tags_parse((const char *)data, size, &tags, why)) {
		tags_free(tags);
		return 0;
	}
	if (*why && strncmp(why, LINE, strlen(LINE)) != 0)
		abort();
	return 0;
}
