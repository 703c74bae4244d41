// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "base/netlink.h"

#define SEQUENCE 1 /* one question per socket */

static void close_socket(struct mnl_socket **nl)
{
	if (*nl)
		mnl_socket_close(*nl);
}

void *netlink_begin(union netlink_request *request, int type, int flags, size_t size)
{
	struct nlmsghdr *header = mnl_nlmsg_put_header(request->bytes);

	header->nlmsg_type = (__u16)type;
	header->nlmsg_flags = (__u16)(NLM_F_REQUEST | flags);
	header->nlmsg_seq = SEQUENCE;
	return mnl_nlmsg_put_extra_header(header, size);
}

static int read_answers(struct mnl_socket *nl, mnl_cb_t on_message, void *data)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_ANSWER_MAX];
	unsigned int port = mnl_socket_get_portid(nl);
	int more = MNL_CB_OK;

	while (more == MNL_CB_OK) {
		ssize_t size = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));

		if (size < 0)
			return -errno;
		more = mnl_cb_run(buffer, (size_t)size, SEQUENCE, port, on_message, data);
	}
	return more == MNL_CB_ERROR ? -errno : 0;
}

int netlink_query(int bus, union netlink_request *request, mnl_cb_t on_message, void *data)
{
	__attribute__((cleanup(close_socket))) struct mnl_socket *nl =
	    mnl_socket_open2(bus, SOCK_CLOEXEC);

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(nl, request, request->header.nlmsg_len) < 0)
		return -errno;
	return read_answers(nl, on_message, data);
}
