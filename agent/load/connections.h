/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe that tells of TCP connections when they end (bpf/record/connections.bpf.c). It is there
 * as long as its daemon, and costs nothing before and after.
 */
#ifndef CTXPROP_CONNECTIONS_H
#define CTXPROP_CONNECTIONS_H

#include <linux/types.h>

/* Maps of the daemon, whose the descriptors stay. */
struct connections_maps {
	int records_fd, recording_fd, attended_fd, counters_fd;
	__u32 netns; /* as in struct flow_key; 0: those of the map `attended` */
};

struct connections;

/* Load and attach it. 0 or -errno. */
int connections_open(const struct connections_maps *maps, struct connections **ret_connections);

/* Take it away. NULL is allowed. */
void connections_close(struct connections *connections);

#endif
