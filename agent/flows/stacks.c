// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "flows/stacks.h"
#include "load/node_maps.h"
#include "pins/pins.h"
#include "stacks_bpf.skel.h"

static void cleanup_skeleton(struct stacks_bpf **skeleton)
{
	stacks_bpf__destroy(*skeleton);
}

/* Choose the hook that this kernel has, and load. */
static int load(struct stacks_bpf *skeleton, int sockets, __u32 netns)
{
	bool tracepoint = libbpf_find_vmlinux_btf_id("tcp_sendmsg_locked", BPF_TRACE_RAW_TP) > 0;
	int err;

	skeleton->rodata->wanted_netns = netns;
	bpf_program__set_autoload(skeleton->progs.gather_tp, tracepoint);
	bpf_program__set_autoload(skeleton->progs.gather_fentry, !tracepoint);
	/* Its turn comes afterwards, with a map to go over. */
	bpf_program__set_autoattach(skeleton->progs.record_stacks, false);
	err = bpf_map__reuse_fd(skeleton->maps.sockets, sockets);
	return err ? err : stacks_bpf__load(skeleton);
}

int stacks_gather(__u32 netns, unsigned int seconds, struct told *ret_stacks)
{
	__attribute__((cleanup(cleanup_skeleton))) struct stacks_bpf *skeleton = NULL;
	char path[PINS_PATH_MAX];
	_cleanup_close_ int sockets =
	    bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), "sockets"));
	int err;

	if (sockets < 0)
		return sockets;
	skeleton = stacks_bpf__open();
	if (!skeleton)
		return -errno;
	err = load(skeleton, sockets, netns);
	if (!err)
		err = stacks_bpf__attach(skeleton);
	if (err)
		return err;
	sleep(seconds);
	stacks_bpf__detach(skeleton);
	return told_read(skeleton->progs.record_stacks, bpf_map__fd(skeleton->maps.stacks),
			 sizeof(struct record_stack_entry), netns, ret_stacks);
}
