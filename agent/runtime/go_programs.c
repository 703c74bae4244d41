// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "go_probes.skel.h"
#include "runtime/go_programs.h"

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

static const struct uprobe_kind kinds[GOLANG_PROBES] = {
    [GOLANG_STARTED] = {.program = "probe_go_started"},
    [GOLANG_CONNECTION] = {.program = "probe_go_connection"},
    [GOLANG_ROUND_TRIP] = {.program = "probe_go_round_trip"},
    [GOLANG_SEND] = {.program = "probe_go_send", .flags = RUNTIME_POOLS},
    [GOLANG_RECEIVE] = {.program = "probe_go_receive", .flags = RUNTIME_POOLS},
    [GOLANG_STORE] = {.program = "probe_go_store", .flags = RUNTIME_POOLS},
    [GOLANG_TAKE] = {.program = "probe_go_take", .flags = RUNTIME_POOLS},
    [GOLANG_RUNS] = {.program = "probe_go_runs", .flags = RUNTIME_SHOWN},
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

int go_programs_attach(struct go_programs *programs, const struct subject *subject,
		       const struct golang *golang, __u32 flags)
{
	const struct stat *file = &subject->file[SUBJECT_PROGRAM].stat;

	if (!find(programs, file) && !add(programs, file, golang))
		return -ENOMEM;
	return uprobe_programs_attach(programs->probes, subject, &golang->sites, kinds,
				      GOLANG_PROBES, flags);
}

void go_programs_hide(struct go_programs *programs, const struct stat *file)
{
	uprobe_programs_detach(programs->probes, file, kinds[GOLANG_RUNS].program);
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
