// SPDX-License-Identifier: Apache-2.0
#include "ruby_probes.skel.h"
#include "runtime/ruby_programs.h"

static const struct uprobe_kind kinds[RUBY_PROBES] = {
    [RUBY_PUT] = {.program = "probe_ruby_put"},
    [RUBY_TAKEN] = {.program = "probe_ruby_taken"},
    [RUBY_ASKED] = {.program = "probe_ruby_asked"},
};

int ruby_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs)
{
	size_t size;
	const void *object = ruby_probes__elf_bytes(&size);

	return uprobe_programs_open(pins, "ruby_probes", object, size, ret_programs);
}

int ruby_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			 const struct probe_sites *sites)
{
	return uprobe_programs_attach(programs, subject, sites, kinds, RUBY_PROBES, 0);
}
