/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has the other end of the control socket CAP_NET_ADMIN over this network namespace? The
 * credentials of a message say who its sender is, not what he may do: user 0 in a container may
 * have no capability at all. But the kernel lets nobody into a multicast group who lacks this one,
 * in the user namespace that owns the network namespace, and tells of all sockets which groups they
 * are in. So both ends enter a group in which nothing is ever said.
 */
#ifndef CTXPROP_CONTROL_RIGHT_H
#define CTXPROP_CONTROL_RIGHT_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

/* What the kernel tells of a socket. */
struct control_right {
	__u64 inode;
	bool admin; /* who made it, or had it, had CAP_NET_ADMIN */
};

/*
 * Enter the group with a bound NETLINK_USERSOCK, to show that this process has the capability. 0;
 * -EPERM: it has not; or -errno.
 */
int control_right_show(int fd);

/* The sockets of this thread's network namespace: a descriptor for control_right_of(), or -errno.
 */
int control_right_open(void);

/* The right of the NETLINK_USERSOCK that has this port. 0; -ENOENT: there is none; or -errno. */
int control_right_of(int fd, __u32 port, struct control_right *ret_right);

/*
 * The process that holds the socket of this inode, by its id in our own pid namespace: `said` if it
 * does, which may be the id that the sender has in another one. 0: nobody that we can see does.
 */
pid_t control_right_holder(__u64 inode, pid_t said);

#endif
