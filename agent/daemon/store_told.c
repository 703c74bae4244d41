// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/text.h"
#include "daemon/store_told.h"

int store_told_begin(struct store_told *told, const char *store)
{
	char folder[PATH_MAX] = "";
	int length;

	*told = (struct store_told){};
	if (!store)
		return 0;
	if (*store != '/' && !getcwd(folder, sizeof(folder)))
		return -errno;
	length =
	    snprintf(told->path, sizeof(told->path), "%s%s%s", folder, *folder ? "/" : "", store);
	return length < (int)sizeof(told->path) ? 0 : -ENAMETOOLONG;
}

void store_told_now(const struct store_told *told, struct control_store *ret)
{
	struct stat status;

	*ret = (struct control_store){};
	text_copy(ret->path, sizeof(ret->path), told->path);
	if (!*told->path || stat(told->path, &status))
		return;
	ret->device = status.st_dev;
	ret->inode = status.st_ino;
}
