// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <bpf/libbpf.h>

#include "haproxy_probes.skel.h"
#include "runtime/haproxy_programs.h"
#include "runtime/process.h"

struct haproxy_programs {
	struct haproxy_probes *bpf;
	struct uprobe_pins *pins;
};

int haproxy_programs_open(struct uprobe_pins *pins, struct haproxy_programs **ret_programs)
{
	struct haproxy_programs *programs = calloc(1, sizeof(*programs));
	int err;

	if (!programs)
		return -ENOMEM;
	programs->pins = pins;
	programs->bpf = haproxy_probes__open();
	err = programs->bpf ? uprobe_pins_prepare(pins, programs->bpf->obj) : -errno;
	if (!err)
		err = haproxy_probes__load(programs->bpf);
	if (err)
		haproxy_programs_close(programs);
	else
		*ret_programs = programs;
	return err;
}

void haproxy_programs_close(struct haproxy_programs *programs)
{
	if (!programs)
		return;
	haproxy_probes__destroy(programs->bpf);
	free(programs);
}

int haproxy_programs_attach(struct haproxy_programs *programs, __u32 tgid, const struct stat *file,
			    const struct haproxy *haproxy)
{
	char path[PROCESS_PATH_MAX];
	const struct uprobe_place place = {.file = process_exe(path, tgid),
					   .offset = haproxy->begins};

	return uprobe_pins_attach(programs->pins, file, programs->bpf->progs.probe_stream_begins,
				  &place);
}
