// SPDX-License-Identifier: Apache-2.0
/* Lines of /proc/PID/maps: what is taken for one lies within the line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/mapping.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1);
	struct mapping mapping;

	memcpy(line, data, size);
	line[size] = '\0';
	if (!mapping_parse(line, &mapping) &&
	    (mapping.path < line || mapping.path > line + size || mapping.end <= mapping.start))
		abort();
	free(line);
	return 0;
}
