// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <stdio.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cgroup.h"

/* Where cgroup2 is mounted: /sys/fs/cgroup, or .../unified beside version 1. NULL: nowhere. */
static const char *mount_point(void)
{
	static const char *const usual[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct statfs fs;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (!statfs(usual[i], &fs) && (unsigned long)fs.f_type == CGROUP2_SUPER_MAGIC)
			return usual[i];
	return NULL;
}

__u64 cgroup_id(const char *path)
{
	const char *root = mount_point();
	char whole[PATH_MAX];
	struct stat status;

	if (!root || snprintf(whole, sizeof(whole), "%s%s", root, path) >= (int)sizeof(whole))
		return 0;
	/* The inode number of a cgroup's directory is its id. */
	return !stat(whole, &status) && S_ISDIR(status.st_mode) ? status.st_ino : 0;
}
