// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <net/if.h>
#include <sys/socket.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "base/netlink.h"
#include "load/links.h"

#define SOCKET_BUFFER_BYTES (1024 * 1024) /* thousands of devices that come at once */

_Static_assert(LINK_NAME_MAX == IF_NAMESIZE, "names of devices fit");

struct links_monitor {
	struct mnl_socket *nl;
	links_news on_news;
	void *data;
};

/* The attributes of one link message that matter here. */
struct link_attrs {
	struct link *link;
	bool lower;   /* names a device below */
	bool foreign; /* which is in another namespace */
};

static int read_kind(const struct nlattr *attr, void *data)
{
	struct link *link = data;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
		snprintf(link->kind, sizeof(link->kind), "%s", mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

static int read_attr(const struct nlattr *attr, void *data)
{
	struct link_attrs *attrs = data;
	struct link *link = attrs->link;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		snprintf(link->name, sizeof(link->name), "%s", mnl_attr_get_str(attr));
		break;
	case IFLA_LINK:
		attrs->lower = mnl_attr_get_u32(attr) != 0;
		break;
	case IFLA_LINK_NETNSID:
		attrs->foreign = true;
		break;
	case IFLA_LINKINFO:
		return mnl_attr_parse_nested(attr, read_kind, link);
	default:
		break;
	}
	return MNL_CB_OK;
}

static void on_new_link(const struct nlmsghdr *message, const struct links_handler *handler)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	struct link link = {
	    .ifindex = info->ifi_index, .up = info->ifi_flags & IFF_UP, .arphrd = info->ifi_type};
	struct link_attrs attrs = {.link = &link};

	mnl_attr_parse(message, sizeof(*info), read_attr, &attrs);
	link.stacked = attrs.lower && !attrs.foreign;
	handler->on_link(&link, handler->data);
}

/* Messages of the family AF_BRIDGE are about ports, not about devices. */
static bool is_of_device(const struct nlmsghdr *message)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);

	return info->ifi_family == AF_UNSPEC;
}

void links_tell(const struct nlmsghdr *message, const struct links_handler *handler)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	const struct tcmsg *tc = mnl_nlmsg_get_payload(message);

	switch (message->nlmsg_type) {
	case RTM_NEWLINK:
		if (is_of_device(message))
			on_new_link(message, handler);
		break;
	case RTM_DELLINK:
		if (is_of_device(message) && handler->on_gone)
			handler->on_gone(info->ifi_index, handler->data);
		break;
	case RTM_DELQDISC:
	case RTM_DELTFILTER:
		if (handler->on_filters_lost)
			handler->on_filters_lost(tc->tcm_ifindex, handler->data);
		break;
	default:
		break;
	}
}

static int on_answer(const struct nlmsghdr *message, void *data)
{
	links_tell(message, data);
	return MNL_CB_OK;
}

int links_dump(const struct links_handler *handler)
{
	union netlink_request request;

	netlink_begin(&request, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
	return netlink_query(NETLINK_ROUTE, &request, on_answer, (void *)handler);
}

/* Also to what is told elsewhere. */
static int subscribe_everywhere(struct mnl_socket *nl)
{
	int on = 1, group = RTNLGRP_NSID;

	if (mnl_socket_setsockopt(nl, NETLINK_LISTEN_ALL_NSID, &on, sizeof(on)) ||
	    mnl_socket_setsockopt(nl, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		return -errno;
	return 0;
}

static int subscribe(struct mnl_socket *nl)
{
	int size = SOCKET_BUFFER_BYTES;

	/* SO_RCVBUFFORCE: CAP_NET_ADMIN is there; smaller is no error, news are re-read then. */
	(void)setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return mnl_socket_bind(nl, RTMGRP_LINK | RTMGRP_TC, MNL_SOCKET_AUTOPID) < 0 ? -errno : 0;
}

int links_monitor_open(bool everywhere, links_news on_news, void *data,
		       struct links_monitor **ret_monitor)
{
	struct links_monitor *monitor = calloc(1, sizeof(*monitor));
	int err;

	if (!monitor)
		return -ENOMEM;
	monitor->on_news = on_news;
	monitor->data = data;
	monitor->nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	err = monitor->nl ? subscribe(monitor->nl) : -errno;
	if (!err && everywhere)
		err = subscribe_everywhere(monitor->nl);
	if (err)
		links_monitor_close(monitor);
	else
		*ret_monitor = monitor;
	return err;
}

int links_monitor_fd(const struct links_monitor *monitor)
{
	return mnl_socket_get_fd(monitor->nl);
}

/* The namespace that a datagram is about: the kernel adds its number unless it is this one. */
static int told_in(struct msghdr *datagram)
{
	int nsid = LINKS_HERE;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(datagram); c; c = CMSG_NXTHDR(datagram, c))
		if (c->cmsg_level == SOL_NETLINK && c->cmsg_type == NETLINK_LISTEN_ALL_NSID &&
		    c->cmsg_len >= CMSG_LEN(sizeof(nsid)))
			memcpy(&nsid, CMSG_DATA(c), sizeof(nsid));
	return nsid;
}

static void tell(const struct links_monitor *monitor, int nsid, const char *bytes, size_t size)
{
	const struct nlmsghdr *message = (const struct nlmsghdr *)bytes;
	int left = (int)size;

	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
		if (message->nlmsg_type >= NLMSG_MIN_TYPE)
			monitor->on_news(nsid, message, monitor->data);
}

int links_monitor_read(struct links_monitor *monitor)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_ANSWER_MAX];
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];

	for (;;) {
		struct sockaddr_nl from = {};
		struct iovec bytes = {buffer, sizeof(buffer)};
		struct msghdr datagram = {.msg_name = &from,
					  .msg_namelen = sizeof(from),
					  .msg_iov = &bytes,
					  .msg_iovlen = 1,
					  .msg_control = control,
					  .msg_controllen = sizeof(control)};
		ssize_t size = recvmsg(mnl_socket_get_fd(monitor->nl), &datagram, 0);

		if (size < 0)
			return errno == EAGAIN ? 0 : -errno;
		/* Ignore datagrams that are not from the kernel. */
		if (!from.nl_pid)
			tell(monitor, told_in(&datagram), buffer, (size_t)size);
	}
}

void links_monitor_close(struct links_monitor *monitor)
{
	if (!monitor)
		return;
	if (monitor->nl)
		mnl_socket_close(monitor->nl);
	free(monitor);
}
