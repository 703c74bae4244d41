// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "load/node_maps.h"
#include "runtime/uprobe_pins.h"

#define LINKS_DIR "uprobes" /* below the layer */

int uprobe_pins_open(struct uprobe_pins *ret_pins)
{
	*ret_pins = (struct uprobe_pins){.by_link = uprobe_has_links()};
	snprintf(ret_pins->session, sizeof(ret_pins->session), "%d-", getpid());
	pins_join(ret_pins->dir, node_maps_layer_dir(), LINKS_DIR);
	return mkdir(ret_pins->dir, 0700) && errno != EEXIST ? -errno : 0;
}

int uprobe_pins_prepare(const struct uprobe_pins *pins, struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		if (pins->by_link)
			uprobe_prepare(program);
	}
	return node_maps_share(object, NULL, 0);
}

int uprobe_pins_attach(struct uprobe_pins *pins, const struct bpf_program *program,
		       const struct uprobe_place *place, char ret_pin[PINS_PATH_MAX])
{
	char name[64], pin[PINS_PATH_MAX];
	int err;

	snprintf(name, sizeof(name), "%s%u", pins->session, pins->serial++);
	err = uprobe_attach(program, pins->by_link, place, pins_join(pin, pins->dir, name));
	if (!err)
		memcpy(ret_pin, pin, sizeof(pin));
	return err;
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
