// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <bpf/libbpf.h>

#include "runtime/uprobe_programs.h"

struct uprobe_programs {
	struct uprobe_pins *pins;
	struct bpf_object *object;
};

static int load(struct uprobe_programs *programs, const char *name, const void *object, size_t size)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = name);
	int err;

	programs->object = bpf_object__open_mem(object, size, &opts);
	if (!programs->object)
		return -errno;
	err = uprobe_pins_prepare(programs->pins, programs->object);
	return err ? err : bpf_object__load(programs->object);
}

int uprobe_programs_open(struct uprobe_pins *pins, const char *name, const void *object,
			 size_t size, struct uprobe_programs **ret_programs)
{
	struct uprobe_programs *programs = calloc(1, sizeof(*programs));
	int err;

	if (!programs)
		return -ENOMEM;
	programs->pins = pins;
	err = load(programs, name, object, size);
	if (err)
		uprobe_programs_close(programs);
	else
		*ret_programs = programs;
	return err;
}

void uprobe_programs_close(struct uprobe_programs *programs)
{
	if (!programs)
		return;
	bpf_object__close(programs->object);
	free(programs);
}

static int attach(struct uprobe_programs *programs, const struct subject *subject,
		  const struct probe_site *site, const struct uprobe_kind *kind)
{
	const struct uprobe_site place = {.file = &subject->file[site->file],
					  .offset = site->offset,
					  .at_return = kind->at_return};
	const struct bpf_program *probe =
	    bpf_object__find_program_by_name(programs->object, kind->program);

	if (!probe)
		return -ENOENT;
	return uprobe_pins_attach(programs->pins, &subject->file[SUBJECT_PROGRAM].stat, probe,
				  &place);
}

int uprobe_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			   const struct probe_sites *sites, const struct uprobe_kind *kinds,
			   size_t count, __u32 flags)
{
	int err = 0;

	for (__u32 i = 0; !err && i < sites->count; i++) {
		const struct probe_site *site = &sites->site[i];
		const struct uprobe_kind *kind = site->probe < count ? &kinds[site->probe] : NULL;

		if (!kind)
			err = -EBADMSG;
		else if ((flags & kind->flags) == kind->flags)
			err = attach(programs, subject, site, kind);
	}
	return err;
}

void uprobe_programs_detach(struct uprobe_programs *programs, const struct stat *program,
			    const char *name)
{
	const struct bpf_program *probe = bpf_object__find_program_by_name(programs->object, name);

	if (probe)
		uprobe_pins_detach(programs->pins, program, probe);
}
