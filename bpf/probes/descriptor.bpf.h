/* SPDX-License-Identifier: GPL-2.0-only */
/* From a file descriptor of the current process to the kernel's socket. */
#ifndef CTXPROP_PROBES_DESCRIPTOR_BPF_H
#define CTXPROP_PROBES_DESCRIPTOR_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "probes/kernel.bpf.h"

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

#endif
