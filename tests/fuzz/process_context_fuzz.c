// SPDX-License-Identifier: Apache-2.0
/* What a process says of itself: whatever it is, names of keys end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/take/process_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct process_context context;

	if (process_context_parse(data, size, &context))
		return 0;
	for (size_t i = 0; i < PROCESS_CONTEXT_KEYS; i++)
		if (!memchr(context.key[i], '\0', sizeof(context.key[i])))
			abort();
	return 0;
}
