// SPDX-License-Identifier: Apache-2.0
#include "node_probes.skel.h"
#include "runtime/node_programs.h"

static const struct uprobe_kind kinds[NODE_PROBES] = {
    [NODE_MADE] = {.program = "probe_opening_made"},
    [NODE_CONNECTS] = {.program = "probe_opening_connects"},
    [NODE_CLOSES] = {.program = "probe_opening_closes"},
    [NODE_LATER] = {.program = "probe_later_checks", .flags = RUNTIME_LATER},
    [NODE_WORK] = {.program = "probe_work_given", .flags = RUNTIME_WORKS},
    [NODE_QUEUES] = {.program = "probe_work_queued", .flags = RUNTIME_WORKS},
    [NODE_DONE] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
    [NODE_FILES] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
    [NODE_NAMES] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
    [NODE_SERVICES] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
    [NODE_RANDOM] = {.program = "probe_work_done", .flags = RUNTIME_WORKS},
};

int node_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs)
{
	size_t size;
	const void *object = node_probes__elf_bytes(&size);

	return uprobe_programs_open(pins, "node_probes", object, size, ret_programs);
}

int node_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			 const struct probe_sites *sites, __u32 flags)
{
	return uprobe_programs_attach(programs, subject, sites, kinds, NODE_PROBES, flags);
}
