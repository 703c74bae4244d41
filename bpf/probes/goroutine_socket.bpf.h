/* SPDX-License-Identifier: GPL-2.0-only */
/* From a connection of net/http's client to the kernel's socket. */
#ifndef CTXPROP_PROBES_GOROUTINE_SOCKET_BPF_H
#define CTXPROP_PROBES_GOROUTINE_SOCKET_BPF_H

#include "probes/goroutine.bpf.h"

#define MODE_TYPE   0170000
#define MODE_SOCKET 0140000

/* Address of the socket behind a descriptor of the current process; 0: it is no socket. */
static __always_inline __u64 socket_of_descriptor(__u32 fd)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	const struct socket___kernel *socket;
	struct file **slot, *file = NULL;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	slot = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), slot + fd);
	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & MODE_TYPE) != MODE_SOCKET)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	return (__u64)BPF_CORE_READ(socket, sk);
}

/* The socket of a persistConn; 0: its connection is not plain TCP. */
static __always_inline __u64 goroutine_socket(__u64 persist_conn)
{
	__u64 connection = user_read(persist_conn + GO_PERSIST_CONN_CONN);
	__u64 net_fd = connection ? user_read(connection + GO_TCP_CONN_FD) : 0;
	__u64 fd = net_fd ? user_read(net_fd + GO_NET_FD_SYSFD) : ~0ULL;

	return socket_of_descriptor((__u32)fd);
}

#endif
