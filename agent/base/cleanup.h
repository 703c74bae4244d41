/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope cleanup: a resource is released where its variable ends, unless it was taken.
 * An empty descriptor is -1.
 */
#ifndef CTXPROP_CLEANUP_H
#define CTXPROP_CLEANUP_H

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define _cleanup_close_    __attribute__((cleanup(cleanup_close)))
#define _cleanup_free_     __attribute__((cleanup(cleanup_free)))
#define _cleanup_closedir_ __attribute__((cleanup(cleanup_closedir)))

/* Move a descriptor out of a variable that would close it. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
