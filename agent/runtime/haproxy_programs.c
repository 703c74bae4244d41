// SPDX-License-Identifier: Apache-2.0
#include "haproxy_probes.skel.h"
#include "runtime/haproxy_programs.h"

static const struct uprobe_kind kinds[] = {{.program = "probe_stream_begins"}};

int haproxy_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs)
{
	size_t size;
	const void *object = haproxy_probes__elf_bytes(&size);

	return uprobe_programs_open(pins, "haproxy_probes", object, size, ret_programs);
}

int haproxy_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			    const struct probe_sites *sites)
{
	return uprobe_programs_attach(programs, subject, sites, kinds, 1, 0);
}
