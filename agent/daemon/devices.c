// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/names.h"
#include "daemon/devices.h"
#include "pins/pins.h"

/* One device that was met. */
struct device {
	struct link link;
	bool attached; /* this daemon's programs */
	bool behind;   /* an earlier daemon's programs, and no way to replace them */
	bool failed;   /* not to be tried, and logged, again until it goes down */
	bool seen;     /* in the dump that is being read */
};

struct devices {
	const struct attacher *attacher;
	const char *place; /* what stands before the names of devices in the log */
	char *left;        /* names of devices that are left alone */
	struct links_handler handler;
	struct device *table;
	size_t count;
};

static struct device *find(struct devices *devices, int ifindex)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->table[i].link.ifindex == ifindex)
			return &devices->table[i];
	return NULL;
}

static struct device *add(struct devices *devices, const struct link *link)
{
	struct device *device = list_add(&devices->table, &devices->count, sizeof(*device));

	if (device)
		*device = (struct device){.link = *link};
	return device;
}

static void log_attached(const struct devices *devices, const struct link *link, bool existed,
			 const enum attach_way *ways)
{
	const char *what = existed ? "programs replaced" : "attached", *in, *out;

	in = attach_way_name(ways[HOOK_IN]);
	out = attach_way_name(ways[HOOK_OUT]);
	if (ways[HOOK_IN] == ways[HOOK_OUT])
		log_info(existed ? "device-replaced" : "device-attached", "%s%s: %s (%s)",
			 devices->place, link->name, what, in);
	else
		log_info(existed ? "device-replaced" : "device-attached",
			 "%s%s: %s (%s in, %s out)", devices->place, link->name, what, in, out);
}

static void attach(struct devices *devices, struct device *device, bool existed)
{
	const struct link *link = &device->link;
	enum attach_way ways[HOOKS];
	int err = attach_device(devices->attacher, link, ways);

	device->attached = !err;
	device->failed = err;
	device->behind = err && existed;
	if (err)
		log_error("device-failed", "%s%s: not attached%s: %s", devices->place, link->name,
			  existed ? ", the programs of an earlier daemon stay" : "",
			  strerror(-err));
	else
		log_attached(devices, link, existed, ways);
}

/* A device is new, or the first news of it since the daemon started. */
static void meet(struct devices *devices, struct device *device)
{
	bool existed = attach_count(devices->attacher->layer_dir, device->link.ifindex) > 0;
	const char *why_not = attach_why_not(&device->link);

	if (existed)
		attach(devices, device, true);
	else if (why_not)
		log_debug("device-skipped", "%s%s: not attached: %s", devices->place,
			  device->link.name, why_not);
	else if (names_have(devices->left, device->link.name))
		log_info("device-left-alone",
			 "%s%s: left alone, it was detached by `ctxprop detach`", devices->place,
			 device->link.name);
	else if (device->link.up)
		attach(devices, device, false);
}

/* Should programs be attached to this device that are not? */
static bool is_missing(const struct devices *devices, const struct device *device)
{
	const struct link *link = &device->link;

	return link->up && !device->attached && !device->failed && !attach_why_not(link) &&
	       !names_have(devices->left, link->name);
}

static void renew(struct devices *devices, struct device *device, const struct link *link)
{
	if (strcmp(device->link.name, link->name) != 0)
		log_info("device-renamed", "%s%s: renamed to %s", devices->place, device->link.name,
			 link->name);
	device->link = *link;
	if (!link->up)
		device->failed = false;
	else if (is_missing(devices, device))
		attach(devices, device, false);
}

static void on_link(const struct link *link, void *data)
{
	struct devices *devices = data;
	struct device *device = find(devices, link->ifindex);

	if (device) {
		renew(devices, device, link);
	} else {
		device = add(devices, link);
		if (!device) {
			log_error("device-failed", "%s%s: not attached: out of memory",
				  devices->place, link->name);
			return;
		}
		meet(devices, device);
	}
	device->seen = true;
}

static void on_gone(int ifindex, void *data)
{
	struct devices *devices = data;
	struct device *device = find(devices, ifindex);

	if (!device)
		return;
	if (device->attached || device->behind) {
		attach_forget(devices->attacher->layer_dir, ifindex);
		log_info("device-gone", "%s%s: gone", devices->place, device->link.name);
	}
	*device = devices->table[--devices->count];
}

/* Somebody has removed a qdisc or classifier: attach again if it was ours. */
static void on_filters_lost(int ifindex, void *data)
{
	struct devices *devices = data;
	struct device *device = find(devices, ifindex);

	if (!device || !device->attached ||
	    attach_count(devices->attacher->layer_dir, ifindex) == HOOKS)
		return;
	log_warning("device-attached-again",
		    "%s%s: another program removed our classifiers; attaching again",
		    devices->place, device->link.name);
	attach(devices, device, false);
}

int devices_read(struct devices *devices)
{
	int err;

	for (size_t i = 0; i < devices->count; i++)
		devices->table[i].seen = false;
	err = links_dump(&devices->handler);
	for (size_t i = devices->count; !err && i-- > 0;)
		if (!devices->table[i].seen)
			on_gone(devices->table[i].link.ifindex, devices);
	return err;
}

/* A pin <ifindex>-<hook> whose device was removed while no daemon ran. */
static int forget_if_gone(const char *path, const char *name, void *data)
{
	struct devices *devices = data;
	int ifindex = (int)strtol(name, NULL, 10);

	(void)path;
	if (!find(devices, ifindex))
		attach_forget(devices->attacher->layer_dir, ifindex);
	return 0;
}

static int start(struct devices *devices)
{
	char links[PINS_PATH_MAX];
	int err = devices_read(devices);

	if (err)
		return err;
	pins_join(links, devices->attacher->layer_dir, "links");
	return pins_each(links, forget_if_gone, devices);
}

int devices_open(const struct attacher *attacher, const char *place, const char *left,
		 struct devices **ret_devices)
{
	struct devices *devices = calloc(1, sizeof(*devices));
	int err;

	if (!devices)
		return -ENOMEM;
	devices->attacher = attacher;
	devices->place = place;
	devices->handler = (struct links_handler){on_link, on_gone, on_filters_lost, devices};
	devices->left = left ? strdup(left) : NULL;
	err = left && !devices->left ? -ENOMEM : start(devices);
	if (err)
		devices_close(devices);
	else
		*ret_devices = devices;
	return err;
}

void devices_tell(struct devices *devices, const struct nlmsghdr *message)
{
	links_tell(message, &devices->handler);
}

static struct device *find_name(struct devices *devices, const char *name)
{
	for (size_t i = 0; i < devices->count; i++)
		if (!strcmp(devices->table[i].link.name, name))
			return &devices->table[i];
	return NULL;
}

int devices_leave(struct devices *devices, const char *name)
{
	struct device *device = find_name(devices, name);
	int err = device ? names_add(&devices->left, name) : -ENODEV;

	if (err || !(device->attached || device->behind))
		return err;
	err = attach_remove(devices->attacher->layer_dir, device->link.ifindex);
	if (err)
		return err;
	device->attached = device->behind = false;
	log_info("device-detached", "%s%s: detached", devices->place, name);
	return 0;
}

int devices_take_back(struct devices *devices, const char *name)
{
	struct device *device = find_name(devices, name);

	if (!device)
		return -ENODEV;
	if (attach_why_not(&device->link))
		return -EMEDIUMTYPE;
	names_remove(devices->left, name);
	device->failed = false;
	if (is_missing(devices, device))
		attach(devices, device, false);
	return device->failed ? -EIO : 0;
}

const char *devices_left(const struct devices *devices)
{
	return devices->left ? devices->left : "";
}

size_t devices_attached(const struct devices *devices)
{
	size_t attached = 0;

	for (size_t i = 0; i < devices->count; i++)
		attached += devices->table[i].attached;
	return attached;
}

bool devices_left_behind(const struct devices *devices)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->table[i].behind)
			return true;
	return false;
}

void devices_close(struct devices *devices)
{
	if (!devices)
		return;
	free(devices->left);
	free(devices->table);
	free(devices);
}
