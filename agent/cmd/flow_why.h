/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains, for `ctxprop flows -x`, why the last call of a connection belongs to its trace.
 * Evidence and veto are those of that call; requests and habits are those of this moment.
 */
#ifndef CTXPROP_FLOW_WHY_H
#define CTXPROP_FLOW_WHY_H

#include <stdbool.h>
#include <jansson.h>

#include "abi.h"
#include "inspect/holders.h"

/* What is asked for all connections. */
struct flow_why {
	bool wanted; /* false: all that follows says nothing */
	__u32 netns; /* ours, as in struct flow_key: sockets of others cannot be asked about */
	struct holders holders;
	int sockets_fd, processes_fd; /* maps */
};

/* To be closed, also after an error. 0; -ENOENT: no requests are followed; or -errno. */
int flow_why_open(struct flow_why *ret_why, __u32 netns);

void flow_why_close(struct flow_why *why);

/* Lines behind that of the connection; none where nothing is known of calls on it. */
void flow_why_print(const struct flow_why *why, const struct flow_key *key);

/* The same; null where nothing is known. */
json_t *flow_why_json(const struct flow_why *why, const struct flow_key *key);

#endif
