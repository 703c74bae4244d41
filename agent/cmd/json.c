// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>

#include "cmd/json.h"

int json_print(json_t *document)
{
	int err = document ? json_dumpf(document, stdout,
					JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6))
			   : -1;

	json_decref(document);
	if (err)
		return command_refuse("out of memory, or standard output is closed");
	putchar('\n');
	return COMMAND_OK;
}

int json_answer(const struct command_flags *flags, json_t *document, const char *format, ...)
{
	va_list args;

	if (flags->json)
		return json_print(document);
	json_decref(document);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return COMMAND_OK;
}
