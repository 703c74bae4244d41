// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that listened before the probes came: an iterator over the files of all processes, run
 * once by each daemon that starts. What they run is found out before they get a request.
 */
#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_helpers.h>
#include "engine/maps.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "probes/kernel.bpf.h"

#define STATE_LISTEN 10 /* as the kernel numbers it */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter__task_file {
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

#pragma clang attribute pop

SEC("iter/task_file")
int probe_listener(struct bpf_iter__task_file *ctx)
{
	const struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	const struct socket___kernel *socket;
	const struct sock *sk;

	if (!task || !file)
		return 0;
	socket = (void *)bpf_sock_from_file(file);
	if (!socket)
		return 0;
	sk = socket->sk;
	if (sk && sk->sk_protocol == IPPROTO_TCP && sk->__sk_common.skc_state == STATE_LISTEN)
		runtime_listens(task->tgid);
	return 0;
}
