// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>

#include "base/netlink.h"
#include "load/nsid.h"

#define ANY_NUMBER (-1)

static int read_number(const struct nlattr *attr, void *data)
{
	int *nsid = data;

	if (mnl_attr_get_type(attr) == NETNSA_NSID)
		*nsid = (int)mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int on_answer(const struct nlmsghdr *message, void *data)
{
	mnl_attr_parse(message, sizeof(struct rtgenmsg), read_number, data);
	return MNL_CB_STOP; /* there is one answer */
}

/* The number of a namespace; NETNSA_NSID_NOT_ASSIGNED: it has none. 0 or -errno. */
static int ask(int attribute, int value, int *ret_nsid)
{
	union netlink_request request;

	netlink_begin(&request, RTM_GETNSID, 0, sizeof(struct rtgenmsg));
	mnl_attr_put_u32(&request.header, (__u16)attribute, (__u32)value);
	return netlink_query(NETLINK_ROUTE, &request, on_answer, ret_nsid);
}

static int assign(int netns_fd)
{
	union netlink_request request;
	int err;

	netlink_begin(&request, RTM_NEWNSID, NLM_F_ACK, sizeof(struct rtgenmsg));
	mnl_attr_put_u32(&request.header, NETNSA_FD, (__u32)netns_fd);
	mnl_attr_put_u32(&request.header, NETNSA_NSID, (__u32)ANY_NUMBER);
	err = netlink_query(NETLINK_ROUTE, &request, on_answer, &(int){0});
	return err == -EEXIST ? 0 : err;
}

int nsid_of(int netns_fd)
{
	int nsid = NETNSA_NSID_NOT_ASSIGNED, err = assign(netns_fd);

	if (!err)
		err = ask(NETNSA_FD, netns_fd, &nsid);
	if (err)
		return err;
	return nsid < 0 ? -ENOENT : nsid;
}

int nsid_exists(int nsid)
{
	int found = NETNSA_NSID_NOT_ASSIGNED;
	int err = ask(NETNSA_NSID, nsid, &found);

	if (err)
		return err == -ENOENT ? 0 : err;
	return found >= 0;
}

int nsid_ended(const struct nlmsghdr *message, int *ret_nsid)
{
	if (message->nlmsg_type != RTM_DELNSID)
		return 0;
	*ret_nsid = NETNSA_NSID_NOT_ASSIGNED;
	on_answer(message, ret_nsid);
	return *ret_nsid >= 0;
}
