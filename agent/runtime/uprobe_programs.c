// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>

#include "runtime/uprobe_programs.h"

/* One program that was needed: an object of which it alone is loaded. */
struct loaded {
	struct loaded *next;
	struct bpf_object *object;
	const struct bpf_program *program;
};

struct uprobe_programs {
	struct uprobe_pins *pins;
	const char *name; /* of the object, whose bytes these are */
	const void *bytes;
	size_t size;
	struct loaded *first;
	int err; /* a program could not be loaded: none is tried again */
};

int uprobe_programs_open(struct uprobe_pins *pins, const char *name, const void *object,
			 size_t size, struct uprobe_programs **ret_programs)
{
	struct uprobe_programs *programs = calloc(1, sizeof(*programs));

	if (!programs)
		return -ENOMEM;
	*programs =
	    (struct uprobe_programs){.pins = pins, .name = name, .bytes = object, .size = size};
	*ret_programs = programs;
	return 0;
}

static void unload(struct loaded *loaded)
{
	bpf_object__close(loaded->object);
	free(loaded);
}

void uprobe_programs_close(struct uprobe_programs *programs)
{
	struct loaded *loaded;

	if (!programs)
		return;
	while ((loaded = programs->first)) {
		programs->first = loaded->next;
		unload(loaded);
	}
	free(programs);
}

/* Open the object, and load of its programs the one of this name. 0 or -errno. */
static int load(const struct uprobe_programs *programs, const char *name, struct loaded *ret_loaded)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = programs->name);
	struct bpf_program *program;
	int err;

	ret_loaded->object = bpf_object__open_mem(programs->bytes, programs->size, &opts);
	if (!ret_loaded->object)
		return -errno;
	ret_loaded->program = bpf_object__find_program_by_name(ret_loaded->object, name);
	if (!ret_loaded->program)
		return -ENOENT;
	bpf_object__for_each_program(program, ret_loaded->object)
	    bpf_program__set_autoload(program, program == ret_loaded->program);
	err = uprobe_pins_prepare(programs->pins, ret_loaded->object);
	return err ? err : bpf_object__load(ret_loaded->object);
}

static struct loaded *find(const struct uprobe_programs *programs, const char *name)
{
	struct loaded *loaded = programs->first;

	while (loaded && strcmp(bpf_program__name(loaded->program), name) != 0)
		loaded = loaded->next;
	return loaded;
}

/* The program of this name, which is loaded if this is the first that needs it. 0 or -errno. */
static int need(struct uprobe_programs *programs, const char *name, struct loaded **ret_loaded)
{
	struct loaded *loaded;

	*ret_loaded = find(programs, name);
	if (*ret_loaded || programs->err)
		return *ret_loaded ? 0 : programs->err;
	loaded = calloc(1, sizeof(*loaded));
	if (!loaded)
		return -ENOMEM;
	programs->err = load(programs, name, loaded);
	if (programs->err) {
		unload(loaded);
		return programs->err;
	}
	loaded->next = programs->first;
	programs->first = loaded;
	*ret_loaded = loaded;
	return 0;
}

int uprobe_programs_attach(struct uprobe_programs *programs, const struct stat *program,
			   const char *name, const struct uprobe_place *place)
{
	struct loaded *loaded;
	int err = need(programs, name, &loaded);

	return err ? err : uprobe_pins_attach(programs->pins, program, loaded->program, place);
}

void uprobe_programs_detach(struct uprobe_programs *programs, const struct stat *program,
			    const char *name)
{
	const struct loaded *loaded = find(programs, name);

	if (loaded)
		uprobe_pins_detach(programs->pins, program, loaded->program);
}

int uprobe_programs_lack(const struct uprobe_programs *programs)
{
	return programs->err;
}
