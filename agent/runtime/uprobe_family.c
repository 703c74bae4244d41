// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "runtime/uprobe_family.h"

#define FAMILY_AT (sizeof("probe_") - 1)

bool uprobe_family_is(const char *program, const char *other)
{
	return strlen(other) > FAMILY_AT &&
	       !strncmp(program, other, FAMILY_AT + strcspn(other + FAMILY_AT, "_") + 1);
}

static int add(struct uprobe_family *family, const struct bpf_program *program, int fd)
{
	if (fd < 0)
		return fd;
	family->program[family->count].fd = fd;
	text_copy(family->program[family->count].name, UPROBE_NAME_MAX, bpf_program__name(program));
	family->count++;
	return 0;
}

/* What was pinned of it. 0, -ENOENT: not all of it is there; or -errno. */
static int open_pinned(const struct uprobe_pins *pins, __u64 key, const struct bpf_object *object,
		       struct uprobe_family *family)
{
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, object)
	{
		if (!err && bpf_program__autoload(program))
			err = add(family, program,
				  uprobe_pins_open_program(pins, key, bpf_program__name(program)));
	}
	return err;
}

static int keep(const struct uprobe_pins *pins, __u64 key, const struct bpf_program *program,
		struct uprobe_family *family)
{
	int fd = fcntl(bpf_program__fd(program), F_DUPFD_CLOEXEC, 0);

	if (fd >= 0)
		uprobe_pins_keep_program(pins, key, bpf_program__name(program), fd);
	return add(family, program, fd < 0 ? -errno : fd);
}

static int load(const struct uprobe_pins *pins, __u64 key, struct bpf_object *object,
		struct uprobe_family *family)
{
	struct bpf_program *program;
	int err = bpf_object__load(object);

	bpf_object__for_each_program(program, object)
	{
		if (!err && bpf_program__autoload(program))
			err = keep(pins, key, program, family);
	}
	return err;
}

/* Of all programs those of the family are to be loaded. 0, -ENOENT, or -E2BIG. */
static int choose(struct bpf_object *object, const char *name)
{
	struct bpf_program *program;
	size_t count = 0;

	bpf_object__for_each_program(program, object)
	{
		const bool is_wanted = uprobe_family_is(bpf_program__name(program), name);

		bpf_program__set_autoload(program, is_wanted);
		count += is_wanted;
	}
	if (!count)
		return -ENOENT;
	return count > UPROBE_FAMILY_MAX ? -E2BIG : 0;
}

static int open_or_load(const struct uprobe_pins *pins, const struct uprobe_object *bytes,
			struct bpf_object *object, struct uprobe_family *family)
{
	int err = uprobe_pins_prepare(pins, object);
	__u64 key;

	if (err)
		return err;
	key = uprobe_pins_key(pins, object, bytes->bytes, bytes->size);
	if (!open_pinned(pins, key, object, family))
		return 0;
	uprobe_family_close(family);
	return load(pins, key, object, family);
}

int uprobe_family_load(const struct uprobe_pins *pins, const struct uprobe_object *object,
		       const char *program, struct uprobe_family *ret_family)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = object->name);
	struct bpf_object *opened = bpf_object__open_mem(object->bytes, object->size, &opts);
	int err;

	*ret_family = (struct uprobe_family){};
	if (!opened)
		return -errno;
	err = choose(opened, program);
	if (!err)
		err = open_or_load(pins, object, opened, ret_family);
	if (err)
		uprobe_family_close(ret_family);
	bpf_object__close(opened);
	return err;
}

void uprobe_family_close(struct uprobe_family *family)
{
	for (size_t i = 0; i < family->count; i++)
		cleanup_close(&family->program[i].fd);
	*family = (struct uprobe_family){};
}

int uprobe_family_find(const struct uprobe_family *family, const char *program)
{
	for (size_t i = 0; i < family->count; i++)
		if (!strcmp(family->program[i].name, program))
			return family->program[i].fd;
	return -1;
}
