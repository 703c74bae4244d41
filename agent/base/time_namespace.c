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
	long long seconds, ns;
	bool differs = false;

	while (offsets && fscanf(offsets, "%*s %lld %lld", &seconds, &ns) == 2)
		differs |= seconds || ns;
	if (offsets)
		fclose(offsets);
	return differs;
}
