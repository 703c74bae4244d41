// SPDX-License-Identifier: Apache-2.0
#include "haproxy_probes.skel.h"
#include "runtime/haproxy_programs.h"
#include "runtime/process.h"

int haproxy_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs)
{
	size_t size;
	const void *object = haproxy_probes__elf_bytes(&size);

	return uprobe_programs_open(pins, "haproxy_probes", object, size, ret_programs);
}

int haproxy_programs_attach(struct uprobe_programs *programs, __u32 tgid, const struct stat *file,
			    const struct haproxy *haproxy)
{
	char path[PROCESS_PATH_MAX];
	const struct uprobe_place place = {.file = process_exe(path, tgid),
					   .offset = haproxy->begins};

	return uprobe_programs_attach(programs, file, "probe_stream_begins", &place);
}
