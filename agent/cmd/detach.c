// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "cmd/command.h"
#include "flows/table.h"
#include "load/attach.h"
#include "load/control.h"
#include "load/layout.h"
#include "load/links.h"
#include "load/node.h"

/* What is known of the connections that would break. */
struct damage {
	__u32 netns;           /* as in struct flow_key */
	unsigned long shifted; /* flows whose numbers are shifted */
	unsigned int unknown;  /* layers of another build, which cannot be read */
};

/* One layer being removed from all devices. */
struct removal {
	const char *layer_dir;
	int err;
};

static int assess_layer(const char *path, const char *name, void *data)
{
	struct damage *damage = data;
	char map[PINS_PATH_MAX], why[128];
	unsigned long total, shifted;
	int layout = layout_check(path, why, sizeof(why));

	(void)name;
	if (layout) {
		/* A layer that was never finished was never attached. */
		damage->unknown += layout != -ENOENT;
		return 0;
	}
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(map, path, "flows"));
	int err = fd < 0 ? fd : table_count(fd, damage->netns, &total, &shifted);

	if (!err)
		damage->shifted += shifted;
	return err;
}

static void remove_from_device(const struct link *link, void *data)
{
	struct removal *removal = data;
	int err = attach_remove(removal->layer_dir, link->ifindex);

	if (!err)
		return;
	removal->err = err;
	command_refuse("%s: %s", link->name, strerror(-err));
}

static int remove_layer(const char *path, const char *name, void *data)
{
	struct removal removal = {.layer_dir = path};
	struct links_handler handler = {.on_link = remove_from_device, .data = &removal};
	int err = links_dump(&handler);

	(void)name;
	(void)data;
	if (!err)
		err = removal.err;
	return err ? err : pins_remove_tree(path);
}

static int pause_layer(const char *path, const char *name, void *data)
{
	(void)name;
	(void)data;
	control_set_paused(path, true);
	return 0;
}

static int refuse_damage(const struct damage *damage)
{
	if (damage->shifted)
		command_refuse("%lu live connections carry added bytes and would break; stop "
			       "ctxpropd, wait until they close, or use --force",
			       damage->shifted);
	if (damage->unknown)
		command_refuse("%u layers of another build cannot be read here; use the ctxprop of "
			       "that build, or --force",
			       damage->unknown);
	return COMMAND_REFUSED;
}

/* Editing is off while the flows are counted, or another one might get an offset. */
static int assess(const struct pins *pins, struct damage *ret_damage)
{
	*ret_damage = (struct damage){.netns = (__u32)pins->cookie};
	pins_each(pins->netns_dir, pause_layer, NULL);
	return pins_each(pins->netns_dir, assess_layer, ret_damage);
}

static int remove_all(const struct pins *pins)
{
	int err = pins_each(pins->netns_dir, remove_layer, NULL);

	if (!err && rmdir(pins->netns_dir))
		err = -errno;
	if (err)
		return command_refuse("not everything could be removed: %s", strerror(-err));
	err = node_remove_if_unused();
	if (err)
		return command_refuse("the probes could not be removed: %s", strerror(-err));
	/* Not empty when other namespaces have pins. */
	rmdir(PINS_ROOT);
	return COMMAND_OK;
}

static int detach_locked(const struct pins *pins, const struct command_flags *flags)
{
	bool was_paused = control_is_paused(pins->layer_dir) != 0;
	struct damage damage;
	int err = assess(pins, &damage);

	if (err && !flags->force)
		return command_refuse("the flow table cannot be read: %s", strerror(-err));
	if (flags->force || (!damage.shifted && !damage.unknown))
		return remove_all(pins);
	control_set_paused(pins->layer_dir, was_paused);
	return refuse_damage(&damage);
}

int command_detach(const struct pins *pins, const struct command_flags *flags)
{
	_cleanup_close_ int lock = pins_lock_existing(pins);

	if (lock == -EWOULDBLOCK)
		return command_refuse("a ctxpropd is running in this network namespace; stop it "
				      "first, it would attach again");
	if (lock < 0)
		return command_refuse_pins(pins, lock);
	return detach_locked(pins, flags);
}
