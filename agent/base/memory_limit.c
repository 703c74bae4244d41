// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/memory_limit.h"

/* Where a hierarchy with limits of memory may be mounted, and what they are called there. */
struct hierarchy {
	const char *root, *file;
};

static const struct hierarchy version_2[] = {
    {"/sys/fs/cgroup", "memory.max"}, {"/sys/fs/cgroup/unified", "memory.max"}, {}};
static const struct hierarchy version_1[] = {{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
					     {}};

static __u64 of_machine(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? ULLONG_MAX : (__u64)info.totalram * info.mem_unit;
}

/* The limit of one cgroup; ULLONG_MAX: it has none. */
static __u64 of_cgroup(const struct hierarchy *hierarchy, const char *path)
{
	char name[PATH_MAX], text[32] = "";
	__u64 limit;
	FILE *file;
	char *end;

	snprintf(name, sizeof(name), "%s%s/%s", hierarchy->root, path, hierarchy->file);
	file = fopen(name, "re");
	if (!file)
		return ULLONG_MAX;
	limit = fgets(text, sizeof(text), file) ? strtoull(text, &end, 10) : 0;
	fclose(file);
	/* "max" is none. */
	return text[0] >= '0' && text[0] <= '9' ? limit : ULLONG_MAX;
}

/* The lowest one of a cgroup and those around it. Shortens the path. */
static __u64 of_cgroups(const struct hierarchy *hierarchies, char *path)
{
	__u64 lowest = ULLONG_MAX;
	char *end = path + strlen(path);

	while (end >= path) {
		*end = '\0';
		for (const struct hierarchy *h = hierarchies; h->root; h++) {
			__u64 limit = of_cgroup(h, path);

			lowest = limit < lowest ? limit : lowest;
		}
		while (--end > path && *end != '/')
			;
	}
	return lowest;
}

/* Which hierarchies a line of /proc/PID/cgroup is about: "0::/a/b", "4:memory:/a/b". */
static const struct hierarchy *of_line(const char *line)
{
	if (!strncmp(line, "0::", 3))
		return version_2;
	return strstr(line, ":memory:") ? version_1 : NULL;
}

__u64 memory_limit(void)
{
	__u64 lowest = of_machine();
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		const struct hierarchy *hierarchies = of_line(line);
		char *path = strchr(line, '/');
		__u64 limit;

		line[strcspn(line, "\n")] = '\0';
		if (!hierarchies || !path)
			continue;
		limit = of_cgroups(hierarchies, path);
		lowest = limit < lowest ? limit : lowest;
	}
	if (file)
		fclose(file);
	return lowest;
}
