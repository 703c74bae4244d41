/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe that reports TCP connections when they end (bpf/record/connections.bpf.c). It is
 * attached only while its daemon runs.
 */
#ifndef CTXPROP_CONNECTIONS_H
#define CTXPROP_CONNECTIONS_H

#include <linux/types.h>

/* Maps of the daemon, which closes their descriptors. */
struct connections_maps {
	int records_fd, recording_fd, attended_fd, counters_fd;
	__u32 netns; /* as in struct flow_key; 0: those of the map `attended` */
};

struct connections;

/* Load and attach it. 0 or -errno. */
int connections_open(const struct connections_maps *maps, struct connections **ret_connections);

/* Detach and free it. NULL is allowed. */
void connections_close(struct connections *connections);

#endif
