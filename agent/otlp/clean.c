// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "base/utf8.h"
#include "otlp/clean.h"

void otlp_clean(char *text)
{
	while (*text) {
		size_t length = utf8_length(text);

		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}
