/* SPDX-License-Identifier: Apache-2.0 */
/* The network devices of a namespace, and notifications about them, by rtnetlink. */
#ifndef CTXPROP_LINKS_H
#define CTXPROP_LINKS_H

#include <stdbool.h>
#include <linux/netlink.h>
#include <linux/types.h>

#define LINK_NAME_MAX 16 /* IFNAMSIZ */
#define LINK_KIND_MAX 32

/* What rtnetlink says of a device. */
struct link {
	int ifindex;
	bool up;      /* administratively */
	bool stacked; /* on another device of this namespace */
	__u16 arphrd; /* ARPHRD_*: what its packets begin with */
	char name[LINK_NAME_MAX];
	char kind[LINK_KIND_MAX]; /* "veth", "vlan"; empty for hardware and loopback */
};

struct links_monitor;

/*
 * All get `data`. `on_gone` comes also for a device that moved to another namespace,
 * `on_filters_lost` when somebody removed a qdisc or classifier; NULL: not of interest.
 */
struct links_handler {
	void (*on_link)(const struct link *link, void *data);
	void (*on_gone)(int ifindex, void *data);
	void (*on_filters_lost)(int ifindex, void *data);
	void *data;
};

/* Call handler->on_link for every device of the current namespace. 0 or -errno. */
int links_dump(const struct links_handler *handler);

/* Stands for the namespace in which a monitor was opened. */
#define LINKS_HERE (-1)

/*
 * News of the namespace with this number, or of namespaces themselves (see load/nsid.h); what it
 * says of devices links_tell() knows.
 */
typedef void (*links_news)(int nsid, const struct nlmsghdr *message, void *data);

/*
 * Subscribe to news of devices. `everywhere`: also of all namespaces that have a number here, and
 * of these namespaces; takes CAP_NET_BROADCAST (-EPERM). 0 or -errno.
 */
int links_monitor_open(bool everywhere, links_news on_news, void *data,
		       struct links_monitor **ret_monitor);

/* Give a message to a handler, if it is about devices. */
void links_tell(const struct nlmsghdr *message, const struct links_handler *handler);

/* The descriptor to poll for input. */
int links_monitor_fd(const struct links_monitor *monitor);

/*
 * Handle all notifications that have come. 0, -ENOBUFS when some were lost (dump again), or -errno.
 */
int links_monitor_read(struct links_monitor *monitor);

/* Frees the monitor; NULL is allowed. */
void links_monitor_close(struct links_monitor *monitor);

#endif
