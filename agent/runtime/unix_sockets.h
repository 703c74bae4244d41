/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks of unix sockets, which see all sockets of the node: they are attached when there is
 * something that programs that take requests may ask over a unix socket, or when one has connected.
 */
#ifndef CTXPROP_UNIX_SOCKETS_H
#define CTXPROP_UNIX_SOCKETS_H

#include <stdbool.h>
#include <linux/types.h>

struct unix_sockets {
	int runtimes_fd; /* the processes that take requests */
	bool waiting;    /* nothing has been found yet */
	bool asked;      /* somebody may need them now */
	/*
	 * CLOCK_MONOTONIC: time of the next look, and the earliest time for one that is asked for.
	 */
	__u64 next_look_ns, earliest_ns;
};

/* Look for the first time. 1: the hooks were attached, 0: not now, or -errno. */
int unix_sockets_open(int runtimes_fd, struct unix_sockets *ret_sockets);

/* A process begins to take requests, or the probes ask for the hooks: the next look is soon. */
void unix_sockets_ask(struct unix_sockets *sockets);

/* Look again, if it is time. Returns as above. */
int unix_sockets_do(struct unix_sockets *sockets);

/* Milliseconds until it is time; -1: never. */
int unix_sockets_due_ms(const struct unix_sockets *sockets);

#endif
