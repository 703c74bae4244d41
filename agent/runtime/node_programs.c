// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <bpf/libbpf.h>

#include "node_probes.skel.h"
#include "runtime/node_programs.h"

struct node_programs {
	struct node_probes *bpf;
	struct uprobe_pins *pins;
};

int node_programs_open(struct uprobe_pins *pins, struct node_programs **ret_programs)
{
	struct node_programs *programs = calloc(1, sizeof(*programs));
	int err;

	if (!programs)
		return -ENOMEM;
	programs->pins = pins;
	programs->bpf = node_probes__open();
	err = programs->bpf ? uprobe_pins_prepare(pins, programs->bpf->obj) : -errno;
	if (!err)
		err = node_probes__load(programs->bpf);
	if (err)
		node_programs_close(programs);
	else
		*ret_programs = programs;
	return err;
}

void node_programs_close(struct node_programs *programs)
{
	if (!programs)
		return;
	node_probes__destroy(programs->bpf);
	free(programs);
}

int node_programs_attach(struct node_programs *programs, const struct stat *program,
			 const struct node *node)
{
	const struct bpf_program *const probes[NODE_PROBES] = {
	    [NODE_MADE] = programs->bpf->progs.probe_opening_made,
	    [NODE_CONNECTS] = programs->bpf->progs.probe_opening_connects,
	    [NODE_CLOSES] = programs->bpf->progs.probe_opening_closes,
	};
	int err = 0;

	for (int i = 0; !err && i < NODE_PROBES; i++) {
		const struct uprobe_place place = {.file = node->libuv, .offset = node->offset[i]};

		err = uprobe_pins_attach(programs->pins, program, probes[i], &place);
	}
	return err;
}
