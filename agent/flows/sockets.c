// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/address.h"
#include "base/netlink.h"
#include "flows/sockets.h"

static struct inet_diag_req_v2 *begin(union netlink_request *request, int flags,
				      const struct tuple *tuple)
{
	struct inet_diag_req_v2 *diag =
	    netlink_begin(request, SOCK_DIAG_BY_FAMILY, flags, sizeof(*diag));

	diag->sdiag_family = address_is_ipv4(tuple->src) ? AF_INET : AF_INET6;
	diag->sdiag_protocol = IPPROTO_TCP;
	return diag;
}

static int ignore(const struct nlmsghdr *message, void *data)
{
	(void)message;
	(void)data;
	return MNL_CB_OK;
}

/* No answer may mean no socket, or a kernel that cannot tell: a dump of nothing tells which. */
static bool can_tell(const struct tuple *tuple)
{
	union netlink_request request;

	begin(&request, NLM_F_DUMP, tuple)->idiag_states = 0;
	return !netlink_query(NETLINK_SOCK_DIAG, &request, ignore, NULL);
}

/* What is found of a connection. */
struct found {
	enum liveness liveness;
	__u64 inode;
};

/* The kernel returns a socket that listens at the local address if there is no other. */
static int on_socket(const struct nlmsghdr *message, void *data)
{
	const struct inet_diag_msg *told = mnl_nlmsg_get_payload(message);
	struct found *found = data;

	found->liveness = told->idiag_state == TCP_LISTEN ? LIVENESS_GONE : LIVENESS_THERE;
	found->inode = found->liveness == LIVENESS_THERE ? told->idiag_inode : 0;
	return MNL_CB_STOP;
}

static void put_tuple(struct inet_diag_sockid *id, const struct tuple *tuple)
{
	bool ipv4 = address_is_ipv4(tuple->src);

	id->idiag_sport = tuple->sport;
	id->idiag_dport = tuple->dport;
	memcpy(id->idiag_src, tuple->src + (ipv4 ? 12 : 0), ipv4 ? 4 : 16);
	memcpy(id->idiag_dst, tuple->dst + (ipv4 ? 12 : 0), ipv4 ? 4 : 16);
	id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
}

/* Look for one socket. 0, -ENOENT or -errno. */
static int look(const struct tuple *tuple, struct found *ret_found)
{
	union netlink_request request;

	*ret_found = (struct found){.liveness = LIVENESS_UNKNOWN};
	put_tuple(&begin(&request, 0, tuple)->id, tuple);
	return netlink_query(NETLINK_SOCK_DIAG, &request, on_socket, ret_found);
}

enum liveness sockets_ask(const struct tuple *tuple)
{
	struct found found;
	int err = look(tuple, &found);

	if (err == -ENOENT)
		return can_tell(tuple) ? LIVENESS_GONE : LIVENESS_UNKNOWN;
	return err ? LIVENESS_UNKNOWN : found.liveness;
}

__u64 sockets_inode(const struct tuple *tuple)
{
	struct found found;

	return look(tuple, &found) ? 0 : found.inode;
}
