// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "daemon/search.h"

/* A namespace that was looked into, and is none of ours. */
struct search_declined {
	ino_t inode;
	bool seen; /* in the search that is going on */
	bool busy; /* to be asked for again */
};

int search_open(const char *path, ino_t *ret_inode)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) || fstat(fd, &status))
		return -errno;
	/* The file of a namespace that is about to be mounted there. */
	if ((unsigned long)fs.f_type != NSFS_MAGIC)
		return -EINVAL;
	*ret_inode = status.st_ino;
	return take_fd(&fd);
}

static struct search_declined *find(const struct search *search, ino_t inode)
{
	for (size_t i = 0; i < search->declined_count; i++)
		if (search->declined[i].inode == inode)
			return &search->declined[i];
	return NULL;
}

/* Without memory it is looked into again the next time. */
static void decline(struct search *search, ino_t inode, bool busy)
{
	struct search_declined *declined =
	    list_add(&search->declined, &search->declined_count, sizeof(*declined));

	if (declined)
		*declined = (struct search_declined){inode, true, busy};
}

/* Forget those that were not found again: their inode numbers may be used again. */
static void prune(struct search *search)
{
	size_t kept = 0;

	for (size_t i = 0; i < search->declined_count; i++) {
		if (!search->declined[i].seen)
			continue;
		search->declined[kept] = search->declined[i];
		search->declined[kept++].seen = false;
	}
	search->declined_count = kept;
}

static int look_at(const struct netns_way *way, void *data)
{
	struct search *search = data;
	struct search_declined *declined;
	ino_t inode = 0;
	int err;

	if (!wanted_has(search->wanted, way))
		return 0;
	_cleanup_close_ int fd = search_open(way->path, &inode);

	if (fd < 0 || search->is_known(inode, search->data))
		return 0;
	declined = find(search, inode);
	if (declined) {
		/* Several paths lead to it; once is enough. */
		if (declined->seen || !declined->busy) {
			declined->seen = true;
			return 0;
		}
		declined->seen = true;
	}
	err = search->meet(way, fd, inode, declined != NULL, search->data);
	if (err && !declined)
		decline(search, inode, err == -EWOULDBLOCK);
	return 0;
}

void search_run(struct search *search)
{
	netns_walk(search->wanted->all, look_at, search);
	prune(search);
}

void search_free(struct search *search)
{
	free(search->declined);
	search->declined = NULL;
	search->declined_count = 0;
}

/* Another way to a namespace. */
struct other_way {
	ino_t inode;
	char *ret_path;
};

static int is_way_to(const struct netns_way *way, void *data)
{
	const struct other_way *other = data;
	ino_t inode = 0;
	_cleanup_close_ int fd = search_open(way->path, &inode);

	if (fd < 0 || inode != other->inode)
		return 0;
	snprintf(other->ret_path, PATH_MAX, "%s", way->path);
	return 1;
}

int search_reopen(ino_t inode, char *path)
{
	struct other_way other = {inode, path};
	ino_t found = 0;
	_cleanup_close_ int fd = search_open(path, &found);

	if (fd >= 0 && found == inode)
		return take_fd(&fd);
	if (netns_walk(true, is_way_to, &other) <= 0)
		return -ENOENT;
	cleanup_close(&fd);
	fd = search_open(path, &found);
	return fd >= 0 && found != inode ? -ENOENT : take_fd(&fd);
}
