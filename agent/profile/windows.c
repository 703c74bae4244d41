// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/windows.h"

#define FOLDER "profiles"
#define ENDING ".pb.gz"

int windows_folder(const char *store, char ret_folder[PATH_MAX])
{
	const char *slash = strrchr(store, '/');
	const int length = slash ? (int)(slash + 1 - store) : 0;

	if (slash && slash - store >= PATH_MAX)
		return -ENAMETOOLONG;
	return snprintf(ret_folder, PATH_MAX, "%.*s" FOLDER, length, store) < PATH_MAX
		   ? 0
		   : -ENAMETOOLONG;
}

void window_name(const struct window *window, char ret_name[WINDOW_NAME_MAX])
{
	snprintf(ret_name, WINDOW_NAME_MAX, "%lld-%lld" ENDING, window->from_s, window->to_s);
}

int window_parse(const char *name, struct window *ret_window)
{
	char again[WINDOW_NAME_MAX], *end;
	struct window window;

	errno = 0;
	window.from_s = strtoll(name, &end, 10);
	if (errno || *end != '-')
		return -EINVAL;
	window.to_s = strtoll(end + 1, NULL, 10);
	if (errno || window.from_s < 0 || window.to_s < window.from_s)
		return -EINVAL;
	window_name(&window, again);
	if (strcmp(name, again) != 0)
		return -EINVAL;
	*ret_window = window;
	return 0;
}
