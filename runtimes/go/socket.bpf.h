/* SPDX-License-Identifier: GPL-2.0-only */
/* From a connection of net/http's client to the kernel's socket. */
#ifndef CTXPROP_RUNTIMES_GO_SOCKET_BPF_H
#define CTXPROP_RUNTIMES_GO_SOCKET_BPF_H

#include "probes/descriptor.bpf.h"
#include "runtimes/go/goroutine.bpf.h"

/* The socket of a persistConn; 0: its connection is not plain TCP. */
static __always_inline __u64 goroutine_socket(__u64 persist_conn)
{
	__u64 connection = user_read(persist_conn + GO_PERSIST_CONN_CONN);
	__u64 net_fd = connection ? user_read(connection + GO_TCP_CONN_FD) : 0;
	__u64 fd = net_fd ? user_read(net_fd + GO_NET_FD_SYSFD) : ~0ULL;

	return socket_of_descriptor((__u32)fd);
}

#endif
