// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "made_folder.h"

char made_folder[] = "/tmp/ctxprop-windows-XXXXXX";

int made_folder_begin(void **state)
{
	(void)state;
	return mkdtemp(made_folder) ? 0 : -1;
}

int made_folder_empty(void **state)
{
	DIR *dir = opendir(made_folder);
	const struct dirent *entry;

	(void)state;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	return dir ? closedir(dir) : -1;
}

int made_folder_end(void **state)
{
	made_folder_empty(state);
	return rmdir(made_folder);
}

const char *made_folder_file(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", made_folder, name);
	return path;
}

const char *made_folder_window(__s64 from_s, __s64 to_s)
{
	char name[WINDOW_NAME_MAX];

	window_name(&(struct window){from_s, to_s}, name);
	return made_folder_file(name);
}

FILE *made_folder_create(const char *file)
{
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	return out;
}
