// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "go_probes.skel.h"
#include "load/node_maps.h"
#include "load/pins.h"
#include "runtime/go_programs.h"
#include "runtime/process.h"
#include "runtime/uprobe.h"

#define LINKS_DIR "uprobes" /* below the layer */

/* A file, and the pins of the uprobes in it. */
struct go_program {
	struct go_program *next;
	struct stat file;
	struct golang golang;
	char pin[GOLANG_SITES][PINS_PATH_MAX]; /* empty: none */
};

struct go_programs {
	struct go_probes *bpf;
	bool by_link; /* uprobes are attached by links, see uprobe.h */
	struct go_program *first;
	char dir[PINS_PATH_MAX];
	char session[16]; /* names of our pins begin so */
	unsigned int serial;
};

/* Detach: the pin was all that kept it. */
static void unpin(char *pin)
{
	if (pin[0])
		unlink(pin);
	pin[0] = '\0';
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int load(struct go_programs *programs)
{
	struct bpf_program *program;
	int err;

	programs->bpf = go_probes__open();
	if (!programs->bpf)
		return -errno;
	programs->by_link = uprobe_has_links();
	bpf_object__for_each_program(program, programs->bpf->obj)
	{
		if (programs->by_link)
			uprobe_prepare(program);
	}
	err = node_maps_share(programs->bpf->obj, NULL, 0);
	return err ? err : go_probes__load(programs->bpf);
}

int go_programs_open(struct go_programs **ret_programs)
{
	struct go_programs *programs = calloc(1, sizeof(*programs));
	int err;

	if (!programs)
		return -ENOMEM;
	snprintf(programs->session, sizeof(programs->session), "%d-", getpid());
	pins_join(programs->dir, node_maps_layer_dir(), LINKS_DIR);
	err = mkdir(programs->dir, 0700) && errno != EEXIST ? -errno : 0;
	if (!err)
		err = load(programs);
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

/* Attach one program at one place and pin that: it stays without us. */
static int attach_one(struct go_programs *programs, const struct bpf_program *probe,
		      const char *path, __u64 offset, char *ret_pin)
{
	char name[64], pin[PINS_PATH_MAX];
	int err;

	snprintf(name, sizeof(name), "%s%u", programs->session, programs->serial++);
	err = uprobe_attach(probe, programs->by_link, path, offset,
			    pins_join(pin, programs->dir, name));
	if (!err)
		memcpy(ret_pin, pin, sizeof(pin));
	return err;
}

/* Is a probe wanted in a program whose process has these flags? */
static bool is_wanted(enum golang_probe probe, __u32 flags)
{
	if (probe == GOLANG_RUNS)
		return flags & RUNTIME_SHOWN;
	return probe < GOLANG_SEND || (flags & RUNTIME_POOLS);
}

static int attach_all(struct go_programs *programs, struct go_program *program, const char *path,
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

		if (is_wanted(site->probe, golang->runtime.flags) && !program->pin[i][0])
			err = attach_one(programs, probes[site->probe], path, site->offset,
					 program->pin[i]);
	}
	return err;
}

static struct go_program *find(const struct go_programs *programs, const struct stat *file)
{
	struct go_program *program = programs->first;

	while (program && !is_same(&program->file, file))
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
	struct go_program *program = find(programs, file);
	char path[PROCESS_PATH_MAX];

	if (!program)
		program = add(programs, file, golang);
	return program ? attach_all(programs, program, process_exe(path, tgid), golang) : -ENOMEM;
}

void go_programs_hide(struct go_programs *programs, const struct stat *file)
{
	struct go_program *program = find(programs, file);

	for (unsigned int i = 0; program && i < program->golang.site_count; i++)
		if (program->golang.site[i].probe == GOLANG_RUNS)
			unpin(program->pin[i]);
}

static int remove_if_other(const char *path, const char *name, void *data)
{
	const struct go_programs *programs = data;

	if (!strncmp(name, programs->session, strlen(programs->session)))
		return 0;
	return unlink(path) ? -errno : 0;
}

int go_programs_detach_others(struct go_programs *programs)
{
	return pins_each(programs->dir, remove_if_other, programs);
}

void go_programs_sweep(struct go_programs *programs,
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
		for (int i = 0; i < GOLANG_SITES; i++)
			unpin(program->pin[i]);
		free(program);
	}
}
