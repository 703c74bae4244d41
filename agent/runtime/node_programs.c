// SPDX-License-Identifier: Apache-2.0
#include "node_probes.skel.h"
#include "runtime/node_programs.h"

/* flag: of the runtime, without which it is not attached; 0: always. */
static const struct {
	const char *program;
	__u32 flag;
} probes[NODE_PROBES] = {
    [NODE_MADE] = {"probe_opening_made", 0},
    [NODE_CONNECTS] = {"probe_opening_connects", 0},
    [NODE_CLOSES] = {"probe_opening_closes", 0},
    [NODE_LATER] = {"probe_later_checks", RUNTIME_LATER},
    [NODE_WORK] = {"probe_work_given", RUNTIME_WORKS},
    [NODE_QUEUES] = {"probe_work_queued", RUNTIME_WORKS},
    [NODE_DONE] = {"probe_work_done", RUNTIME_WORKS},
    [NODE_FILES] = {"probe_work_done", RUNTIME_WORKS},
    [NODE_NAMES] = {"probe_work_done", RUNTIME_WORKS},
    [NODE_SERVICES] = {"probe_work_done", RUNTIME_WORKS},
    [NODE_RANDOM] = {"probe_work_done", RUNTIME_WORKS},
};

int node_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs)
{
	size_t size;
	const void *object = node_probes__elf_bytes(&size);

	return uprobe_programs_open(pins, "node_probes", object, size, ret_programs);
}

int node_programs_attach(struct uprobe_programs *programs, const struct stat *program,
			 const struct node *node, __u32 flags)
{
	int err = 0;

	for (int i = 0; !err && i < NODE_PROBES; i++) {
		const struct uprobe_place place = {
		    .file = i == NODE_LATER ? node->node : node->libuv, .offset = node->offset[i]};

		if (node->offset[i] && (flags & probes[i].flag) == probes[i].flag)
			err = uprobe_programs_attach(programs, program, probes[i].program, &place);
	}
	return err;
}
