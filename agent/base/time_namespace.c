// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/time_namespace.h"

#define INITIAL "time:[4026531834]" /* PROC_TIME_INIT_INO */

/* Of a kernel that has no such namespaces, too. */
static bool is_initial(void)
{
	char name[64];
	ssize_t length = readlink("/proc/self/ns/time", name, sizeof(name) - 1);

	name[length > 0 ? length : 0] = '\0';
	return length <= 0 || !strcmp(name, INITIAL);
}

bool time_namespace_differs(void)
{
	FILE *offsets = is_initial() ? NULL : fopen("/proc/self/timens_offsets", "re");
	bool differs = false;
	char line[128];

	/* Each has the name of a clock, and an offset in seconds and nanoseconds. */
	while (offsets && fgets(line, sizeof(line), offsets))
		differs |= strpbrk(line, "123456789") != NULL;
	if (offsets)
		fclose(offsets);
	return differs;
}
