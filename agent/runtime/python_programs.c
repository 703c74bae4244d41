// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <bpf/libbpf.h>

#include "python_probes.skel.h"
#include "runtime/python_programs.h"

struct python_programs {
	struct python_probes *bpf;
	struct uprobe_pins *pins;
};

int python_programs_open(struct uprobe_pins *pins, struct python_programs **ret_programs)
{
	struct python_programs *programs = calloc(1, sizeof(*programs));
	int err;

	if (!programs)
		return -ENOMEM;
	programs->pins = pins;
	programs->bpf = python_probes__open();
	err = programs->bpf ? uprobe_pins_prepare(pins, programs->bpf->obj) : -errno;
	if (!err)
		err = python_probes__load(programs->bpf);
	if (err)
		python_programs_close(programs);
	else
		*ret_programs = programs;
	return err;
}

void python_programs_close(struct python_programs *programs)
{
	if (!programs)
		return;
	python_probes__destroy(programs->bpf);
	free(programs);
}

int python_programs_attach(struct python_programs *programs, const struct stat *program,
			   const struct python *python)
{
	const struct bpf_program *const probes[PYTHON_PROBES] = {
	    [PYTHON_MADE] = programs->bpf->progs.probe_task_made,
	    [PYTHON_WOKEN] = programs->bpf->progs.probe_task_woken,
	    [PYTHON_PUT] = programs->bpf->progs.probe_queue_put,
	    [PYTHON_ASKED] = programs->bpf->progs.probe_queue_asked,
	    [PYTHON_GOT] = programs->bpf->progs.probe_queue_got,
	    [PYTHON_CALLED] = programs->bpf->progs.probe_transport_called,
	    [PYTHON_ENTERS] = programs->bpf->progs.probe_transport_enters,
	    [PYTHON_WRITES] = programs->bpf->progs.probe_transport_writes,
	};
	int err = 0;

	for (unsigned int i = 0; !err && i < python->site_count; i++) {
		const struct python_site *site = &python->site[i];
		const struct uprobe_place place = {
		    .file = python->path[site->file],
		    .offset = site->offset,
		    .at_return = site->probe == PYTHON_GOT,
		};

		err = uprobe_pins_attach(programs->pins, program, probes[site->probe], &place);
	}
	return err;
}
