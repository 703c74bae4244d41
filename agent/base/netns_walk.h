/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to the network namespaces that can be found from here. */
#ifndef CTXPROP_NETNS_WALK_H
#define CTXPROP_NETNS_WALK_H

#include <stdbool.h>

#define NETNS_NAMED_DIR "/run/netns"

/* One way to a namespace; several may lead to the same one. */
struct netns_way {
	const char *path; /* "/run/netns/blue" */
	const char *name; /* "blue", or the id of a process */
	bool named;
};

/*
 * Call `visit` for each entry of NETNS_NAMED_DIR and, with `processes`, for each process. A
 * namespace may be gone when its path is opened. Stops at the first non-zero result and returns it;
 * or -errno.
 */
int netns_walk(bool processes, int (*visit)(const struct netns_way *way, void *data), void *data);

#endif
