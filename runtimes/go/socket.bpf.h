/* SPDX-License-Identifier: GPL-2.0-only */
/* From a connection of net/http's client to the kernel's socket. */
#ifndef CTXPROP_RUNTIMES_GO_SOCKET_BPF_H
#define CTXPROP_RUNTIMES_GO_SOCKET_BPF_H

#include "runtimes/go/connection.bpf.h"
#include "runtimes/go/goroutine.bpf.h"

/* The socket of a persistConn; 0: its connection is not plain TCP. */
static __always_inline __u64 goroutine_socket(__u64 persist_conn)
{
	return go_connection_socket(user_read(persist_conn + GO_PERSIST_CONN_CONN));
}

#endif
