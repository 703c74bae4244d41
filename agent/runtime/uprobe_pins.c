// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/hash.h"
#include "load/node_maps.h"
#include "load/reuse.h"
#include "load/rules.h"
#include "runtime/uprobe_pins.h"
#include "runtime/uprobe_returns.h"

/* Below the layer. */
#define LINKS_DIR    "uprobes"
#define PROGRAMS_DIR "uprobe-programs"

/* What names of pinned programs begin with, in hexadecimal digits. */
#define KEY_FORMAT "%016llx-"
#define KEY_LENGTH 17

/*
 * A uprobe that is attached, and for the sake of which program. Several may have it: it is one for
 * all of them, lest what they do is seen twice.
 */
struct uprobe_pin {
	struct uprobe_pin *next;
	struct stat program, file; /* it stands in `file` */
	bool overlaid;             /* on overlayfs */
	int probe;                 /* the descriptor of its program */
	__u64 offset;
	char path[PINS_PATH_MAX];
};

int uprobe_pins_open(struct uprobe_pins *ret_pins)
{
	*ret_pins = (struct uprobe_pins){.by_link = uprobe_has_links(),
					 .returns = uprobe_returns_are_safe()};
	snprintf(ret_pins->session, sizeof(ret_pins->session), "%d-", getpid());
	pins_join(ret_pins->dir, node_maps_layer_dir(), LINKS_DIR);
	pins_join(ret_pins->programs_dir, node_maps_layer_dir(), PROGRAMS_DIR);
	if (mkdir(ret_pins->programs_dir, 0700) && errno != EEXIST)
		return -errno;
	return mkdir(ret_pins->dir, 0700) && errno != EEXIST ? -errno : 0;
}

void uprobe_pins_close(struct uprobe_pins *pins)
{
	struct uprobe_pin *pin;

	while ((pin = pins->first)) {
		pins->first = pin->next;
		free(pin);
	}
}

int uprobe_pins_prepare(const struct uprobe_pins *pins, struct bpf_object *object)
{
	struct bpf_program *program;
	int err;

	bpf_object__for_each_program(program, object)
	{
		if (pins->by_link)
			uprobe_prepare(program);
	}
	err = node_maps_share(object, NULL, 0);
	return err ? err : rules_tell(object);
}

__u64 uprobe_pins_key(const struct uprobe_pins *pins, const struct bpf_object *object,
		      const void *bytes, size_t size)
{
	const __u64 key = reuse_key(NULL, object, bytes, size);
	const __u64 way = pins->by_link;

	return key ? hash_add(key, &way, sizeof(way)) : 0;
}

static const char *program_path(const struct uprobe_pins *pins, __u64 key, const char *name,
				char path[PINS_PATH_MAX])
{
	char pin[PINS_PATH_MAX / 2];

	snprintf(pin, sizeof(pin), KEY_FORMAT "%s", (unsigned long long)key, name);
	return pins_join(path, pins->programs_dir, pin);
}

int uprobe_pins_open_program(const struct uprobe_pins *pins, __u64 key, const char *name)
{
	char path[PINS_PATH_MAX];

	return key ? bpf_obj_get(program_path(pins, key, name, path)) : -ENOENT;
}

static int remove_if_called(const char *path, const char *name, void *data)
{
	if (strlen(name) > KEY_LENGTH && !strcmp(name + KEY_LENGTH, data))
		unlink(path);
	return 0;
}

void uprobe_pins_keep_program(const struct uprobe_pins *pins, __u64 key, const char *name, int fd)
{
	char path[PINS_PATH_MAX];

	pins_each(pins->programs_dir, remove_if_called, (void *)name);
	if (key)
		bpf_obj_pin(fd, program_path(pins, key, name, path));
}

static bool is_for(const struct uprobe_pin *pin, const struct stat *program, int probe)
{
	return pin->probe == probe && (!program || uprobe_pins_is_same(&pin->program, program));
}

/*
 * Is it the same file for the kernel, which has uprobes by inode? Containers of one image see its
 * files through overlayfs, each on a device of its own, and with the number and times of the
 * file beneath, which it is.
 */
static bool is_same_inode(const struct uprobe_pin *a, const struct uprobe_pin *b)
{
	struct stat file = a->file;

	if (a->overlaid || b->overlaid)
		file.st_dev = b->file.st_dev;
	return a->file.st_size == b->file.st_size && uprobe_pins_is_same(&file, &b->file);
}

/* One at this place, for whatever program; NULL: there is none. */
static const struct uprobe_pin *find_place(const struct uprobe_pins *pins,
					   const struct uprobe_pin *wanted)
{
	const struct uprobe_pin *pin = pins->first;

	while (pin && !(pin->probe == wanted->probe && pin->offset == wanted->offset &&
			is_same_inode(pin, wanted)))
		pin = pin->next;
	return pin;
}

static bool is_attached(const struct uprobe_pins *pins, const struct uprobe_pin *wanted)
{
	const struct uprobe_pin *pin = pins->first;

	while (pin && !(is_for(pin, &wanted->program, wanted->probe) &&
			pin->offset == wanted->offset && is_same_inode(pin, wanted)))
		pin = pin->next;
	return pin;
}

/* 0, or -errno: the path of a new pin. */
static int attach_first(struct uprobe_pins *pins, struct uprobe_pin *pin,
			const struct uprobe_site *site)
{
	const struct uprobe_place place = {
	    .fd = site->file->fd, .offset = site->offset, .at_return = site->at_return};
	char name[64];

	snprintf(name, sizeof(name), "%s%u", pins->session, pins->serial++);
	return uprobe_attach(pin->probe, pins->by_link, &place,
			     pins_join(pin->path, pins->dir, name));
}

static int attach(struct uprobe_pins *pins, const struct uprobe_pin *wanted,
		  const struct uprobe_site *site)
{
	const struct uprobe_pin *there = find_place(pins, wanted);
	struct uprobe_pin *pin = malloc(sizeof(*pin));
	int err = 0;

	if (!pin)
		return -ENOMEM;
	*pin = *wanted;
	if (there)
		memcpy(pin->path, there->path, sizeof(pin->path));
	else
		err = attach_first(pins, pin, site);
	if (err) {
		free(pin);
		return err;
	}
	pin->next = pins->first;
	pins->first = pin;
	return 0;
}

int uprobe_pins_attach(struct uprobe_pins *pins, const struct stat *program, int probe,
		       const struct uprobe_site *site)
{
	const struct uprobe_pin wanted = {
	    .program = *program,
	    .file = site->file->stat,
	    .overlaid = site->file->overlaid,
	    .probe = probe,
	    .offset = site->offset,
	};

	if (site->file->fd < 0 || !subject_file_runs(site->file, site->offset))
		return -EFAULT;
	if (site->at_return && !pins->returns)
		return 0;
	return is_attached(pins, &wanted) ? 0 : attach(pins, &wanted, site);
}

/* Only its pin keeps it attached, whether for one program or for several. */
static void detach(struct uprobe_pins *pins, struct uprobe_pin **at)
{
	struct uprobe_pin *pin = *at;

	*at = pin->next;
	if (!find_place(pins, pin))
		unlink(pin->path);
	free(pin);
}

void uprobe_pins_detach(struct uprobe_pins *pins, const struct stat *program, int probe)
{
	struct uprobe_pin **at = &pins->first;

	while (*at) {
		if (is_for(*at, program, probe))
			detach(pins, at);
		else
			at = &(*at)->next;
	}
}

void uprobe_pins_sweep(struct uprobe_pins *pins,
		       bool (*is_used)(const struct stat *program, void *data), void *data)
{
	struct uprobe_pin **at = &pins->first;

	while (*at) {
		if (is_used(&(*at)->program, data))
			at = &(*at)->next;
		else
			detach(pins, at);
	}
}

static int remove_if_other(const char *path, const char *name, void *data)
{
	const struct uprobe_pins *pins = data;

	if (!strncmp(name, pins->session, strlen(pins->session)))
		return 0;
	return unlink(path) ? -errno : 0;
}

int uprobe_pins_detach_others(struct uprobe_pins *pins)
{
	return pins_each(pins->dir, remove_if_other, pins);
}

bool uprobe_pins_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}
