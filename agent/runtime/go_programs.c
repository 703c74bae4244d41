// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <bpf/libbpf.h>

#include "go_probes.skel.h"
#include "runtime/go_programs.h"
#include "runtime/process.h"

/* What was found in a file: finding it takes time. */
struct go_program {
	struct go_program *next;
	struct stat file;
	struct golang golang;
};

struct go_programs {
	struct go_probes *bpf;
	struct uprobe_pins *pins;
	struct go_program *first;
};

int go_programs_open(struct uprobe_pins *pins, struct go_programs **ret_programs)
{
	struct go_programs *programs = calloc(1, sizeof(*programs));
	int err;

	if (!programs)
		return -ENOMEM;
	programs->pins = pins;
	programs->bpf = go_probes__open();
	err = programs->bpf ? uprobe_pins_prepare(pins, programs->bpf->obj) : -errno;
	if (!err)
		err = go_probes__load(programs->bpf);
	if (err)
		go_programs_close(programs);
	else
		*ret_programs = programs;
	return err;
}

void go_programs_close(struct go_programs *programs)
{
	struct go_program *program;

	if (!programs)
		return;
	while ((program = programs->first)) {
		programs->first = program->next;
		free(program);
	}
	go_probes__destroy(programs->bpf);
	free(programs);
}

/* Is a probe wanted in a program whose process has these flags? */
static bool is_wanted(enum golang_probe probe, __u32 flags)
{
	if (probe == GOLANG_RUNS)
		return flags & RUNTIME_SHOWN;
	return probe < GOLANG_SEND || (flags & RUNTIME_POOLS);
}

static int attach_all(struct go_programs *programs, const struct stat *file, const char *path,
		      const struct golang *golang)
{
	const struct bpf_program *const probes[GOLANG_PROBES] = {
	    [GOLANG_STARTED] = programs->bpf->progs.probe_go_started,
	    [GOLANG_CONNECTION] = programs->bpf->progs.probe_go_connection,
	    [GOLANG_ROUND_TRIP] = programs->bpf->progs.probe_go_round_trip,
	    [GOLANG_SEND] = programs->bpf->progs.probe_go_send,
	    [GOLANG_RECEIVE] = programs->bpf->progs.probe_go_receive,
	    [GOLANG_STORE] = programs->bpf->progs.probe_go_store,
	    [GOLANG_TAKE] = programs->bpf->progs.probe_go_take,
	    [GOLANG_RUNS] = programs->bpf->progs.probe_go_runs,
	};
	int err = 0;

	for (unsigned int i = 0; !err && i < golang->site_count; i++) {
		const struct golang_site *site = &golang->site[i];
		const struct uprobe_place place = {.file = path, .offset = site->offset};

		if (is_wanted(site->probe, golang->runtime.flags))
			err = uprobe_pins_attach(programs->pins, file, probes[site->probe], &place);
	}
	return err;
}

static struct go_program *find(const struct go_programs *programs, const struct stat *file)
{
	struct go_program *program = programs->first;

	while (program && !uprobe_pins_is_same(&program->file, file))
		program = program->next;
	return program;
}

const struct golang *go_programs_known(const struct go_programs *programs, const struct stat *file)
{
	const struct go_program *program = find(programs, file);

	return program ? &program->golang : NULL;
}

static struct go_program *add(struct go_programs *programs, const struct stat *file,
			      const struct golang *golang)
{
	struct go_program *program = calloc(1, sizeof(*program));

	if (!program)
		return NULL;
	program->file = *file;
	program->golang = *golang;
	program->golang.runtime.flags = 0; /* a process's own */
	program->next = programs->first;
	programs->first = program;
	return program;
}

int go_programs_attach(struct go_programs *programs, __u32 tgid, const struct stat *file,
		       const struct golang *golang)
{
	char path[PROCESS_PATH_MAX];

	if (!find(programs, file) && !add(programs, file, golang))
		return -ENOMEM;
	return attach_all(programs, file, process_exe(path, tgid), golang);
}

void go_programs_hide(struct go_programs *programs, const struct stat *file)
{
	uprobe_pins_detach(programs->pins, file, programs->bpf->progs.probe_go_runs);
}

void go_programs_forget(struct go_programs *programs,
			bool (*is_used)(const struct stat *file, void *data), void *data)
{
	struct go_program **at = &programs->first;

	while (*at) {
		struct go_program *program = *at;

		if (is_used(&program->file, data)) {
			at = &program->next;
			continue;
		}
		*at = program->next;
		free(program);
	}
}
