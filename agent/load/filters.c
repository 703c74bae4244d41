// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "base/netlink.h"
#include "load/filters.h"

static const __u32 parents[HOOKS] = {
    [HOOK_IN] = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS),
    [HOOK_OUT] = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS),
};

struct dump {
	void (*visit)(const struct filter *, void *data);
	void *data;
};

static int find_prog_id(const struct nlattr *attr, void *data)
{
	__u32 *prog_id = data;

	if (mnl_attr_get_type(attr) == TCA_BPF_ID)
		*prog_id = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int read_filter_attr(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == TCA_OPTIONS)
		return mnl_attr_parse_nested(attr, find_prog_id, data);
	return MNL_CB_OK;
}

static bool is_bpf(const struct nlmsghdr *message)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct tcmsg))
	{
		if (mnl_attr_get_type(attr) == TCA_KIND)
			return !strcmp(mnl_attr_get_str(attr), "bpf");
	}
	return false;
}

static int on_filter(const struct nlmsghdr *message, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(message);
	struct filter filter = {.priority = TC_H_MAJ(tc->tcm_info) >> 16, .handle = tc->tcm_handle};
	struct dump *dump = data;

	if (is_bpf(message))
		mnl_attr_parse(message, sizeof(*tc), read_filter_attr, &filter.prog_id);
	dump->visit(&filter, dump->data);
	return MNL_CB_OK;
}

int filters_each(int ifindex, enum hook hook, void (*visit)(const struct filter *, void *data),
		 void *data)
{
	union netlink_request request;
	struct tcmsg *tc = netlink_begin(&request, RTM_GETTFILTER, NLM_F_DUMP, sizeof(*tc));
	struct dump dump = {visit, data};
	int err;

	tc->tcm_family = AF_UNSPEC;
	tc->tcm_ifindex = ifindex;
	tc->tcm_parent = parents[hook];
	err = netlink_query(NETLINK_ROUTE, &request, on_filter, &dump);
	/* No clsact there, or a kernel without classifiers. */
	return err == -EINVAL || err == -EOPNOTSUPP ? 0 : err;
}
