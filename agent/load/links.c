// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <net/if.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "base/netlink.h"
#include "load/links.h"

#define SOCKET_BUFFER_BYTES (1024 * 1024) /* thousands of devices that come at once */

_Static_assert(LINK_NAME_MAX == IF_NAMESIZE, "names of devices fit");

struct links_monitor {
	struct mnl_socket *nl;
	const struct links_handler *handler;
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

static int on_message(const struct nlmsghdr *message, void *data)
{
	const struct links_handler *handler = data;
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
	return MNL_CB_OK;
}

int links_dump(const struct links_handler *handler)
{
	union netlink_request request;

	netlink_begin(&request, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
	return netlink_query(NETLINK_ROUTE, &request, on_message, (void *)handler);
}

static int subscribe(struct mnl_socket *nl)
{
	int size = SOCKET_BUFFER_BYTES;

	/* SO_RCVBUFFORCE: CAP_NET_ADMIN is there; smaller is no error, news are re-read then. */
	(void)setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return mnl_socket_bind(nl, RTMGRP_LINK | RTMGRP_TC, MNL_SOCKET_AUTOPID) < 0 ? -errno : 0;
}

int links_monitor_open(const struct links_handler *handler, struct links_monitor **ret_monitor)
{
	struct links_monitor *monitor = calloc(1, sizeof(*monitor));
	int err;

	if (!monitor)
		return -ENOMEM;
	monitor->handler = handler;
	monitor->nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	err = monitor->nl ? subscribe(monitor->nl) : -errno;
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

int links_monitor_read(struct links_monitor *monitor)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_ANSWER_MAX];

	for (;;) {
		ssize_t size = mnl_socket_recvfrom(monitor->nl, buffer, sizeof(buffer));

		if (size < 0)
			return errno == EAGAIN ? 0 : -errno;
		mnl_cb_run(buffer, (size_t)size, 0, 0, on_message, (void *)monitor->handler);
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
