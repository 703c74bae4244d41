// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/netlink.h>

#include "control/receive.h"

static void read_credentials(struct msghdr *message, struct control_sender *sender)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct ucred who;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS ||
		    c->cmsg_len < CMSG_LEN(sizeof(who)))
			continue;
		memcpy(&who, CMSG_DATA(c), sizeof(who));
		sender->pid = who.pid;
		sender->uid = who.uid;
		sender->gid = who.gid;
		sender->known = true;
	}
}

ssize_t control_receive(int fd, void *bytes, size_t size, int flags,
			struct control_sender *ret_sender)
{
	_Alignas(struct cmsghdr) char control[128];
	struct sockaddr_nl from = {};
	struct iovec room = {bytes, size};
	struct msghdr message = {
	    .msg_name = &from,
	    .msg_namelen = sizeof(from),
	    .msg_iov = &room,
	    .msg_iovlen = 1,
	    .msg_control = control,
	    .msg_controllen = sizeof(control),
	};
	ssize_t length = recvmsg(fd, &message, flags);

	if (length < 0)
		return -errno;
	*ret_sender = (struct control_sender){
	    .port = from.nl_pid,
	    .groups = from.nl_groups,
	    .whole = !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
		     message.msg_namelen == sizeof(from),
	};
	read_credentials(&message, ret_sender);
	return length;
}
