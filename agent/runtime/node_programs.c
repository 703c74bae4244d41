// SPDX-License-Identifier: Apache-2.0
#include "node_probes.skel.h"
#include "runtime/node_programs.h"

static const char *const probes[NODE_PROBES] = {
    [NODE_MADE] = "probe_opening_made",
    [NODE_CONNECTS] = "probe_opening_connects",
    [NODE_CLOSES] = "probe_opening_closes",
    [NODE_LATER] = "probe_later_checks",
};

int node_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs)
{
	size_t size;
	const void *object = node_probes__elf_bytes(&size);

	return uprobe_programs_open(pins, "node_probes", object, size, ret_programs);
}

int node_programs_attach(struct uprobe_programs *programs, const struct stat *program,
			 const struct node *node, bool later)
{
	int count = later ? NODE_PROBES : NODE_LATER;
	int err = 0;

	for (int i = 0; !err && i < count; i++) {
		const struct uprobe_place place = {
		    .file = i == NODE_LATER ? node->node : node->libuv, .offset = node->offset[i]};

		err = uprobe_programs_attach(programs, program, probes[i], &place);
	}
	return err;
}
