// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "python_probes.skel.h"
#include "runtime/python_programs.h"

/* A uprobe in a file, for the sake of a program that had loaded it. */
struct attached {
	struct attached *next;
	struct stat program, file;
	enum python_probe probe;
	__u64 offset;
	char pin[PINS_PATH_MAX];
};

struct python_programs {
	struct python_probes *bpf;
	struct uprobe_pins *pins;
	struct attached *first;
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
	struct attached *attached;

	if (!programs)
		return;
	while ((attached = programs->first)) {
		programs->first = attached->next;
		free(attached);
	}
	python_probes__destroy(programs->bpf);
	free(programs);
}

static bool is_attached(const struct python_programs *programs, const struct attached *wanted)
{
	const struct attached *at = programs->first;

	while (at && !(uprobe_pins_is_same(&at->program, &wanted->program) &&
		       uprobe_pins_is_same(&at->file, &wanted->file) &&
		       at->probe == wanted->probe && at->offset == wanted->offset))
		at = at->next;
	return at;
}

static int attach_one(struct python_programs *programs, const struct attached *wanted,
		      const struct bpf_program *probe, const struct uprobe_place *place)
{
	struct attached *attached = calloc(1, sizeof(*attached));
	int err;

	if (!attached)
		return -ENOMEM;
	*attached = *wanted;
	err = uprobe_pins_attach(programs->pins, probe, place, attached->pin);
	if (err) {
		free(attached);
		return err;
	}
	attached->next = programs->first;
	programs->first = attached;
	return 0;
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
	};
	int err = 0;

	for (unsigned int i = 0; !err && i < python->site_count; i++) {
		const struct python_site *site = &python->site[i];
		struct attached wanted = {
		    .program = *program, .probe = site->probe, .offset = site->offset};
		const struct uprobe_place place = {
		    .file = python->path[site->file],
		    .offset = site->offset,
		    .at_return = site->probe == PYTHON_GOT,
		};

		if (stat(place.file, &wanted.file))
			err = -errno;
		else if (!is_attached(programs, &wanted))
			err = attach_one(programs, &wanted, probes[site->probe], &place);
	}
	return err;
}

void python_programs_sweep(struct python_programs *programs,
			   bool (*is_used)(const struct stat *file, void *data), void *data)
{
	struct attached **at = &programs->first;

	while (*at) {
		struct attached *attached = *at;

		if (is_used(&attached->program, data)) {
			at = &attached->next;
			continue;
		}
		*at = attached->next;
		unlink(attached->pin);
		free(attached);
	}
}
