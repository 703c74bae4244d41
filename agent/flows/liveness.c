// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <unistd.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>

#include "base/address.h"
#include "base/netlink.h"
#include "flows/liveness.h"
#include "flows/sockets.h"

/* Is a TCP connection tracked whose replies go from dst to src? */
enum liveness conntrack_ask(const struct tuple *tuple);

/* Present while the kernel tracks connections, whether or not it answers questions about them. */
#define TRACKING_FILE "/proc/sys/net/netfilter/nf_conntrack_max"

static void put_addresses(struct nlmsghdr *request, const __u8 *src, const __u8 *dst)
{
	struct nlattr *nest = mnl_attr_nest_start(request, CTA_TUPLE_IP);

	if (address_is_ipv4(src)) {
		mnl_attr_put(request, CTA_IP_V4_SRC, 4, src + 12);
		mnl_attr_put(request, CTA_IP_V4_DST, 4, dst + 12);
	} else {
		mnl_attr_put(request, CTA_IP_V6_SRC, 16, src);
		mnl_attr_put(request, CTA_IP_V6_DST, 16, dst);
	}
	mnl_attr_nest_end(request, nest);
}

static void put_ports(struct nlmsghdr *request, __be16 sport, __be16 dport)
{
	struct nlattr *nest = mnl_attr_nest_start(request, CTA_TUPLE_PROTO);

	mnl_attr_put_u8(request, CTA_PROTO_NUM, IPPROTO_TCP);
	mnl_attr_put_u16(request, CTA_PROTO_SRC_PORT, sport);
	mnl_attr_put_u16(request, CTA_PROTO_DST_PORT, dport);
	mnl_attr_nest_end(request, nest);
}

/* The tuple is the one after address translation, so it is the reversed tuple of the replies. */
static void put_request(union netlink_request *request, const struct tuple *tuple)
{
	struct nfgenmsg *header = netlink_begin(
	    request, NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET, 0, sizeof(*header));
	struct nlattr *nest = mnl_attr_nest_start(&request->header, CTA_TUPLE_REPLY);

	header->nfgen_family = address_is_ipv4(tuple->src) ? AF_INET : AF_INET6;
	header->version = NFNETLINK_V0;
	put_addresses(&request->header, tuple->dst, tuple->src);
	put_ports(&request->header, tuple->dport, tuple->sport);
	mnl_attr_nest_end(&request->header, nest);
}

static int on_connection(const struct nlmsghdr *message, void *data)
{
	bool *found = data;

	(void)message;
	*found = true;
	return MNL_CB_STOP;
}

enum liveness conntrack_ask(const struct tuple *tuple)
{
	union netlink_request request;
	bool found = false;
	int err;

	put_request(&request, tuple);
	err = netlink_query(NETLINK_NETFILTER, &request, on_connection, &found);

	if (found)
		return LIVENESS_THERE;
	if (err == -ENOENT)
		return LIVENESS_GONE;
	/* No answer. Without connection tracking nothing translates addresses either. */
	return access(TRACKING_FILE, F_OK) ? LIVENESS_GONE : LIVENESS_UNKNOWN;
}

enum liveness liveness_of(const struct tuple *tuple)
{
	enum liveness socket = sockets_ask(tuple);

	return socket == LIVENESS_GONE ? conntrack_ask(tuple) : socket;
}
