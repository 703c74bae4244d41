/* SPDX-License-Identifier: GPL-2.0-only */
/* From a connection of a Go program, as its code has it, to the kernel's socket. */
#ifndef CTXPROP_RUNTIMES_GO_CONNECTION_BPF_H
#define CTXPROP_RUNTIMES_GO_CONNECTION_BPF_H

#include "probes/descriptor.bpf.h"
#include "probes/user.bpf.h"
#include "runtimes/runtime.h"

/* The socket of a net.TCPConn, of which this is the address; 0: there is none. */
static __always_inline __u64 go_connection_socket(__u64 connection)
{
	__u64 net_fd = connection ? user_read(connection + GO_TCP_CONN_FD) : 0;
	__u64 fd = net_fd ? user_read(net_fd + GO_NET_FD_SYSFD) : ~0ULL;

	return socket_of_descriptor((__u32)fd);
}

#endif
