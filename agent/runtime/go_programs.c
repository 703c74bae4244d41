// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

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
	struct uprobe_programs *probes;
	struct go_program *first;
};

static const char *const probes[GOLANG_PROBES] = {
    [GOLANG_STARTED] = "probe_go_started",
    [GOLANG_CONNECTION] = "probe_go_connection",
    [GOLANG_ROUND_TRIP] = "probe_go_round_trip",
    [GOLANG_SEND] = "probe_go_send",
    [GOLANG_RECEIVE] = "probe_go_receive",
    [GOLANG_STORE] = "probe_go_store",
    [GOLANG_TAKE] = "probe_go_take",
    [GOLANG_RUNS] = "probe_go_runs",
};

int go_programs_open(struct uprobe_pins *pins, struct go_programs **ret_programs)
{
	struct go_programs *programs = calloc(1, sizeof(*programs));
	size_t size;
	const void *object = go_probes__elf_bytes(&size);
	int err;

	if (!programs)
		return -ENOMEM;
	err = uprobe_programs_open(pins, "go_probes", object, size, &programs->probes);
	if (err)
		go_programs_close(programs);
	else
		*ret_programs = programs;
	return err;
}

int go_programs_lack(const struct go_programs *programs)
{
	return uprobe_programs_lack(programs->probes);
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
	uprobe_programs_close(programs->probes);
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
	int err = 0;

	for (unsigned int i = 0; !err && i < golang->site_count; i++) {
		const struct golang_site *site = &golang->site[i];
		const struct uprobe_place place = {.file = path, .offset = site->offset};

		if (is_wanted(site->probe, golang->runtime.flags))
			err = uprobe_programs_attach(programs->probes, file, probes[site->probe],
						     &place);
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
	uprobe_programs_detach(programs->probes, file, probes[GOLANG_RUNS]);
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
