// SPDX-License-Identifier: Apache-2.0
#include "python_probes.skel.h"
#include "runtime/python_programs.h"

static const struct uprobe_kind kinds[PYTHON_PROBES] = {
    [PYTHON_MADE] = {.program = "probe_task_made"},
    [PYTHON_WOKEN] = {.program = "probe_task_woken"},
    [PYTHON_PUT] = {.program = "probe_queue_put"},
    [PYTHON_ASKED] = {.program = "probe_queue_asked"},
    [PYTHON_GOT] = {.program = "probe_queue_got", .at_return = true},
    [PYTHON_CALLED] = {.program = "probe_transport_called"},
    [PYTHON_ENTERS] = {.program = "probe_transport_enters"},
    [PYTHON_WRITES] = {.program = "probe_transport_writes"},
    [PYTHON_GREENLET_MADE] = {.program = "probe_greenlet_made"},
    [PYTHON_GREENLET_FREED] = {.program = "probe_greenlet_freed"},
};

int python_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs)
{
	size_t size;
	const void *object = python_probes__elf_bytes(&size);

	return uprobe_programs_open(pins, "python_probes", object, size, ret_programs);
}

int python_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			   const struct probe_sites *sites)
{
	return uprobe_programs_attach(programs, subject, sites, kinds, PYTHON_PROBES, 0);
}
