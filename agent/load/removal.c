// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "load/table.h"
#include "load/attach.h"
#include "load/control.h"
#include "load/layout.h"
#include "load/links.h"
#include "load/node.h"
#include "load/removal.h"

struct assessment {
	__u32 netns;
	struct damage *damage;
};

static int assess_layer(const char *path, const char *name, void *data)
{
	const struct assessment *assessment = data;
	char map[PINS_PATH_MAX], why[128];
	unsigned long total, shifted;
	int layout = layout_check(path, why, sizeof(why));

	(void)name;
	if (layout) {
		/* A layer that was never finished was never attached. */
		assessment->damage->unknown += layout != -ENOENT;
		return 0;
	}
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(map, path, "flows"));
	int err = fd < 0 ? fd : table_count(fd, assessment->netns, &total, &shifted);

	if (!err)
		assessment->damage->shifted += shifted;
	return err;
}

static int pause_layer(const char *path, const char *name, void *data)
{
	(void)name;
	(void)data;
	control_set_paused(path, true);
	return 0;
}

int removal_assess(const struct pins *pins, struct damage *ret_damage)
{
	struct assessment assessment = {(__u32)pins->cookie, ret_damage};

	*ret_damage = (struct damage){};
	pins_each_layer(pins, pause_layer, NULL);
	return pins_each_layer(pins, assess_layer, &assessment);
}

/* One layer being removed from all devices. */
struct removal {
	const char *layer_dir;
	void (*complain)(const char *device, int err);
	int err;
};

static void remove_from_device(const struct link *link, void *data)
{
	struct removal *removal = data;
	int err = attach_remove(removal->layer_dir, link->ifindex);

	if (!err)
		return;
	removal->err = err;
	removal->complain(link->name, err);
}

static int remove_layer(const char *path, const char *name, void *data)
{
	struct removal *removal = data;
	struct links_handler handler = {.on_link = remove_from_device, .data = removal};
	int err;

	(void)name;
	removal->layer_dir = path;
	err = links_dump(&handler);
	if (!err)
		err = removal->err;
	return err ? err : pins_remove_tree(path);
}

int removal_do(const struct pins *pins, void (*complain)(const char *device, int err))
{
	struct removal removal = {.complain = complain};
	int err = pins_each_layer(pins, remove_layer, &removal);

	return err ? err : pins_remove_tree(pins->netns_dir);
}

int removal_finish(void)
{
	int err = node_remove_if_unused();

	/* Not empty when other namespaces have pins. */
	if (!err)
		rmdir(PINS_ROOT);
	return err;
}
