/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving from a netlink socket, with the credentials that the kernel attaches. */
#ifndef CTXPROP_CONTROL_RECEIVE_H
#define CTXPROP_CONTROL_RECEIVE_H

#include <stdbool.h>
#include <linux/types.h>
#include <sys/types.h>

/* Who sent a datagram. */
struct control_sender {
	__u32 port;
	__u32 groups; /* multicast groups that it went to */
	uid_t uid;
	gid_t gid;
	pid_t pid;
	bool known; /* pid, uid and gid are vouched for by the kernel */
	bool whole; /* nothing of the datagram was cut off */
};

/* Receive one datagram; flags as of recv(2). Its size or -errno. */
ssize_t control_receive(int fd, void *bytes, size_t size, int flags,
			struct control_sender *ret_sender);

#endif
