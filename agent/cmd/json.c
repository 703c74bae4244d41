// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cmd/command.h"
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
