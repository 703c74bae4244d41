// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

/* Where the line of a name begins, or NULL. */
static char *find(const char *names, const char *name)
{
	size_t length = strlen(name);
	const char *line = names;

	while (line && *line) {
		size_t size = strcspn(line, "\n");

		if (size == length && !memcmp(line, name, size))
			return (char *)line;
		line += size + (line[size] == '\n');
	}
	return NULL;
}

bool names_have(const char *names, const char *name)
{
	return find(names, name) != NULL;
}

int names_add(char **names, const char *name)
{
	char *grown;

	if (names_have(*names, name))
		return 0;
	if (asprintf(&grown, "%s%s\n", *names ? *names : "", name) < 0)
		return -ENOMEM;
	free(*names);
	*names = grown;
	return 0;
}

void names_remove(char *names, const char *name)
{
	char *line = find(names, name);

	if (line) {
		const char *rest = line + strlen(name) + 1;

		memmove(line, rest, strlen(rest) + 1);
	}
}
