// SPDX-License-Identifier: Apache-2.0
#include "ruby_probes.skel.h"
#include "runtime/ruby_programs.h"

static const char *const probes[RUBY_PROBES] = {
    [RUBY_PUT] = "probe_ruby_put",
    [RUBY_TAKEN] = "probe_ruby_taken",
    [RUBY_ASKED] = "probe_ruby_asked",
};

int ruby_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs)
{
	size_t size;
	const void *object = ruby_probes__elf_bytes(&size);

	return uprobe_programs_open(pins, "ruby_probes", object, size, ret_programs);
}

int ruby_programs_attach(struct uprobe_programs *programs, const struct stat *program,
			 const struct ruby *ruby)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < ruby->queues.count; i++) {
		const struct ruby_site *site = &ruby->queues.site[i];
		const struct uprobe_place place = {.file = ruby->path, .offset = site->offset};

		err = uprobe_programs_attach(programs, program, probes[site->probe], &place);
	}
	return err;
}
