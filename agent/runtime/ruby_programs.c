// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <bpf/libbpf.h>

#include "ruby_probes.skel.h"
#include "runtime/ruby_programs.h"

struct ruby_programs {
	struct ruby_probes *bpf;
	struct uprobe_pins *pins;
};

int ruby_programs_open(struct uprobe_pins *pins, struct ruby_programs **ret_programs)
{
	struct ruby_programs *programs = calloc(1, sizeof(*programs));
	int err;

	if (!programs)
		return -ENOMEM;
	programs->pins = pins;
	programs->bpf = ruby_probes__open();
	err = programs->bpf ? uprobe_pins_prepare(pins, programs->bpf->obj) : -errno;
	if (!err)
		err = ruby_probes__load(programs->bpf);
	if (err)
		ruby_programs_close(programs);
	else
		*ret_programs = programs;
	return err;
}

void ruby_programs_close(struct ruby_programs *programs)
{
	if (!programs)
		return;
	ruby_probes__destroy(programs->bpf);
	free(programs);
}

int ruby_programs_attach(struct ruby_programs *programs, const struct stat *program,
			 const struct ruby *ruby)
{
	const struct bpf_program *const probes[RUBY_PROBES] = {
	    [RUBY_PUT] = programs->bpf->progs.probe_ruby_put,
	    [RUBY_TAKEN] = programs->bpf->progs.probe_ruby_taken,
	    [RUBY_ASKED] = programs->bpf->progs.probe_ruby_asked,
	};
	int err = 0;

	for (unsigned int i = 0; !err && i < ruby->queues.count; i++) {
		const struct ruby_site *site = &ruby->queues.site[i];
		const struct uprobe_place place = {.file = ruby->path, .offset = site->offset};

		err = uprobe_pins_attach(programs->pins, program, probes[site->probe], &place);
	}
	return err;
}
