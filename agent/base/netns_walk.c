// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/netns_walk.h"

static int walk_named(int (*visit)(const struct netns_way *way, void *data), void *data)
{
	_cleanup_closedir_ DIR *dir = opendir(NETNS_NAMED_DIR);
	const struct dirent *entry;
	char path[PATH_MAX];
	int result = 0;

	while (!result && dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), NETNS_NAMED_DIR "/%s", entry->d_name);
		result = visit(&(struct netns_way){path, entry->d_name, true}, data);
	}
	return result;
}

static int walk_processes(int (*visit)(const struct netns_way *way, void *data), void *data)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;
	char path[PATH_MAX];
	int result = 0;

	if (!dir)
		return -errno;
	while (!result && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/ns/net", entry->d_name);
		result = visit(&(struct netns_way){path, entry->d_name, false}, data);
	}
	return result;
}

int netns_walk(bool processes, int (*visit)(const struct netns_way *way, void *data), void *data)
{
	int result = walk_named(visit, data);

	return result || !processes ? result : walk_processes(visit, data);
}
