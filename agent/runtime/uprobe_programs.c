// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>

#include "base/resident.h"
#include "runtime/uprobe_programs.h"

/* Programs are needed by families: all that are called probe_FAMILY_... */
#define FAMILY_AT (sizeof("probe_") - 1)

/* A family that was needed: an object of which it alone is loaded. */
struct loaded {
	struct loaded *next;
	struct bpf_object *object;
	const char *name; /* of one of its programs */
};

struct uprobe_programs {
	struct uprobe_pins *pins;
	const char *name; /* of the object, whose bytes these are */
	const void *bytes;
	size_t size;
	struct loaded *first;
	int err; /* a family could not be loaded: none is tried again */
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

static bool is_of_family(const char *program, const char *other)
{
	return strlen(other) > FAMILY_AT &&
	       !strncmp(program, other, FAMILY_AT + strcspn(other + FAMILY_AT, "_") + 1);
}

/* Open the object, and load of its programs the family of this one. 0 or -errno. */
static int load(const struct uprobe_programs *programs, const char *name, struct loaded *ret_loaded)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = programs->name);
	struct bpf_program *program;
	int err;

	ret_loaded->object = bpf_object__open_mem(programs->bytes, programs->size, &opts);
	if (!ret_loaded->object)
		return -errno;
	program = bpf_object__find_program_by_name(ret_loaded->object, name);
	if (!program)
		return -ENOENT;
	ret_loaded->name = bpf_program__name(program);
	bpf_object__for_each_program(program, ret_loaded->object)
	    bpf_program__set_autoload(program, is_of_family(bpf_program__name(program), name));
	err = uprobe_pins_prepare(programs->pins, ret_loaded->object);
	return err ? err : bpf_object__load(ret_loaded->object);
}

static struct loaded *find(const struct uprobe_programs *programs, const char *name)
{
	struct loaded *loaded = programs->first;

	while (loaded && !is_of_family(loaded->name, name))
		loaded = loaded->next;
	return loaded;
}

/* The family of this program is needed. 0 or -errno. */
static int need(struct uprobe_programs *programs, const char *name)
{
	struct loaded *loaded;

	if (find(programs, name) || programs->err)
		return find(programs, name) ? 0 : programs->err;
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
	resident_shrink(); /* loading took what is not needed any more */
	return 0;
}

/* NULL: it is not loaded. */
static const struct bpf_program *program_of(const struct uprobe_programs *programs,
					    const char *name)
{
	const struct loaded *loaded = find(programs, name);

	return loaded ? bpf_object__find_program_by_name(loaded->object, name) : NULL;
}

static int attach(struct uprobe_programs *programs, const struct subject *subject,
		  const struct probe_site *site, const struct uprobe_kind *kind)
{
	const struct uprobe_site place = {.file = &subject->file[site->file],
					  .offset = site->offset,
					  .at_return = kind->at_return};
	int err = need(programs, kind->program);
	const struct bpf_program *probe = err ? NULL : program_of(programs, kind->program);

	if (err)
		return err;
	if (!probe)
		return -ENOENT;
	return uprobe_pins_attach(programs->pins, &subject->file[SUBJECT_PROGRAM].stat, probe,
				  &place);
}

int uprobe_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			   const struct probe_sites *sites, const struct uprobe_kind *kinds,
			   size_t count, __u32 flags, bool asks)
{
	int err = 0;

	for (__u32 i = 0; !err && i < sites->count; i++) {
		const struct probe_site *site = &sites->site[i];
		const struct uprobe_kind *kind = site->probe < count ? &kinds[site->probe] : NULL;

		if (!kind)
			err = -EBADMSG;
		else if (kind->asks == asks && (flags & kind->flags) == kind->flags)
			err = attach(programs, subject, site, kind);
	}
	return err;
}

void uprobe_programs_detach(struct uprobe_programs *programs, const struct stat *program,
			    const char *name)
{
	const struct bpf_program *probe = program_of(programs, name);

	if (probe)
		uprobe_pins_detach(programs->pins, program, probe);
}

int uprobe_programs_lack(const struct uprobe_programs *programs)
{
	return programs->err;
}
