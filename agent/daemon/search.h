/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for network namespaces that are wanted and not yet known. */
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
	 * A namespace that is not, and its descriptor; `again`: not for the first time. It is asked
	 * for once more in the next search if this returns -EWOULDBLOCK, and never after other
	 * errors.
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
 * Open the namespace with this inode number by the way of `path` (PATH_MAX bytes); if that leads
 * there no more another one is put there. Its descriptor, -ENOENT or -errno.
 */
int search_reopen(ino_t inode, char *path);

#endif
