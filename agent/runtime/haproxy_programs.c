// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "haproxy_probes.skel.h"
#include "runtime/haproxy_programs.h"
#include "runtime/process.h"

/* A file, and the pin of the uprobe in it. */
struct haproxy_program {
	struct haproxy_program *next;
	struct stat file;
	char pin[PINS_PATH_MAX];
};

struct haproxy_programs {
	struct haproxy_probes *bpf;
	struct uprobe_pins *pins;
	struct haproxy_program *first;
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
	struct haproxy_program *program;

	if (!programs)
		return;
	while ((program = programs->first)) {
		programs->first = program->next;
		free(program);
	}
	haproxy_probes__destroy(programs->bpf);
	free(programs);
}

static bool is_attached(const struct haproxy_programs *programs, const struct stat *file)
{
	const struct haproxy_program *program = programs->first;

	while (program && !uprobe_pins_is_same(&program->file, file))
		program = program->next;
	return program;
}

int haproxy_programs_attach(struct haproxy_programs *programs, __u32 tgid, const struct stat *file,
			    const struct haproxy *haproxy)
{
	char path[PROCESS_PATH_MAX];
	const struct uprobe_place place = {.file = process_exe(path, tgid),
					   .offset = haproxy->begins};
	struct haproxy_program *program;
	int err;

	if (is_attached(programs, file))
		return 0;
	program = calloc(1, sizeof(*program));
	if (!program)
		return -ENOMEM;
	program->file = *file;
	err = uprobe_pins_attach(programs->pins, programs->bpf->progs.probe_stream_begins, &place,
				 program->pin);
	if (err) {
		free(program);
		return err;
	}
	program->next = programs->first;
	programs->first = program;
	return 0;
}

void haproxy_programs_sweep(struct haproxy_programs *programs,
			    bool (*is_used)(const struct stat *file, void *data), void *data)
{
	struct haproxy_program **at = &programs->first;

	while (*at) {
		struct haproxy_program *program = *at;

		if (is_used(&program->file, data)) {
			at = &program->next;
			continue;
		}
		*at = program->next;
		unlink(program->pin);
		free(program);
	}
}
