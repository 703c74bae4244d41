/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes hold which sockets, by /proc; and what the probes have recorded about a socket,
 * by the descriptor of a process that holds it. This needs no BPF iterator, which some kernels
 * refuse.
 */
#ifndef CTXPROP_HOLDERS_H
#define CTXPROP_HOLDERS_H

#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#include "engine/model.h"

struct holder {
	__u64 inode; /* of the socket */
	pid_t pid;   /* ids of our own pid namespace */
	int fd;      /* of that process */
};

struct holders {
	struct holder *holder; /* by inode */
	size_t count;
};

/* All sockets of all processes that we may look at. To be freed. 0 or -errno. */
int holders_read(struct holders *ret_holders);

void holders_free(struct holders *holders);

/*
 * The entry of the map `sockets` (`sockets_fd`) for the socket with this inode. 0; -ENOENT: it is
 * not followed, or no process holds it (any more); or -errno.
 */
int holders_socket(const struct holders *holders, int sockets_fd, __u64 inode,
		   struct socket *ret_socket);

#endif
