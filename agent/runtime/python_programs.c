// SPDX-License-Identifier: Apache-2.0
#include "python_probes.skel.h"
#include "runtime/python_programs.h"

static const char *const probes[PYTHON_PROBES] = {
    [PYTHON_MADE] = "probe_task_made",
    [PYTHON_WOKEN] = "probe_task_woken",
    [PYTHON_PUT] = "probe_queue_put",
    [PYTHON_ASKED] = "probe_queue_asked",
    [PYTHON_GOT] = "probe_queue_got",
    [PYTHON_CALLED] = "probe_transport_called",
    [PYTHON_ENTERS] = "probe_transport_enters",
    [PYTHON_WRITES] = "probe_transport_writes",
    [PYTHON_GREENLET_MADE] = "probe_greenlet_made",
    [PYTHON_GREENLET_FREED] = "probe_greenlet_freed",
};

int python_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs)
{
	size_t size;
	const void *object = python_probes__elf_bytes(&size);

	return uprobe_programs_open(pins, "python_probes", object, size, ret_programs);
}

int python_programs_attach(struct uprobe_programs *programs, const struct stat *program,
			   const struct python *python)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < python->site_count; i++) {
		const struct python_site *site = &python->site[i];
		const struct uprobe_place place = {
		    .file = python->path[site->file],
		    .offset = site->offset,
		    .at_return = site->probe == PYTHON_GOT,
		};

		err = uprobe_programs_attach(programs, program, probes[site->probe], &place);
	}
	return err;
}
