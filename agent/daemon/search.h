/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for network namespaces that are wanted and not yet known. */
#ifndef CTXPROP_SEARCH_H
#define CTXPROP_SEARCH_H

#include <limits.h>
#include <sys/types.h>

#include "daemon/wanted.h"

struct search_declined;

struct search {
	const struct wanted *wanted;
	/* Is the namespace with this inode number one of ours? */
	bool (*is_known)(ino_t inode, void *data);
	/*
	 * Called with a namespace that is not known, and its descriptor; `again`: not for the first
	 * time. If it returns -EWOULDBLOCK, it is called once more in the next search; after other
	 * errors, never.
	 */
	int (*meet)(const struct netns_way *way, int fd, ino_t inode, bool again, void *data);
	void *data;
	struct search_declined *declined; /* begins as NULL, 0 */
	size_t declined_count;
};

/* Search once. */
void search_run(struct search *search);

void search_free(struct search *search);

/* Open a network namespace. Its descriptor, -EINVAL: another kind of file, or -errno. */
int search_open(const char *path, ino_t *ret_inode);

/*
 * Open the namespace with this inode number by `path` (PATH_MAX bytes). If the path no longer leads
 * there, another one is searched for and stored in it. Its descriptor, -ENOENT or -errno.
 */
int search_reopen(ino_t inode, char *path);

#endif
