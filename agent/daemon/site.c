// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/site.h"
#include "load/control.h"
#include "load/entry.h"
#include "load/layer.h"
#include "load/links.h"
#include "load/node.h"
#include "load/programs.h"
#include "load/removal.h"
#include "pins/pins.h"
#include "pins/texts.h"

static int pause_if_other(const char *path, const char *name, void *data)
{
	const struct pins *pins = data;
	int err;

	if (!strcmp(path, pins->layer_dir))
		return 0;
	err = control_set_paused(path, true);
	if (err)
		log_warning("older-layer-edits", "older layer %s: cannot switch off its edits: %s",
			    name, strerror(-err));
	else
		log_warning(
		    "older-layer",
		    "older layer %s: it only translates from now on; `ctxprop detach` removes it",
		    name);
	return 0;
}

/* Switch off the edits of this namespace's other layers; they keep translating. Logs each. */
static void layers_pause_others(const struct pins *pins)
{
	pins_each_layer(pins, pause_if_other, (void *)pins);
}

/* The pinned text with the names of devices that are left alone. */
#define LEFT_TEXT "devices"

static int failed(const struct site *site, const char *what, int err)
{
	log_error("netns-failed", "%s%s: %s", site->place, what, strerror(-err));
	return err;
}

static void clear(struct site *site)
{
	site->devices = NULL;
	site->entries = false;
	memset(site->attacher.prog_fd, -1, sizeof(site->attacher.prog_fd));
}

/*
 * A device needs programs of a framing. Entries are there already, but the shared programs in which
 * they continue may not be loaded.
 */
static int need_programs(void *data, enum framing framing)
{
	struct site *site = data;
	int err = engine_need(site->engine, framing);

	if (!err && site->entries && site->attacher.prog_fd[HOOK_IN][framing] < 0)
		err = programs_open(site->pins.layer_dir, site->entry_ids, site->attacher.prog_fd);
	if (err || site->attacher.prog_fd[HOOK_IN][framing] >= 0)
		return err;
	engine_programs(site->engine, site->attacher.prog_fd);
	return programs_pin(site->pins.layer_dir, site->attacher.prog_fd);
}

static int load_programs(struct site *site)
{
	int shared = engine_shared_fd(site->engine), err = 0;

	site->attacher.need = need_programs;
	site->attacher.data = site;
	if (shared < 0) {
		engine_programs(site->engine, site->attacher.prog_fd);
	} else {
		site->entries = true;
		err = entry_load(shared, site->cookie, site->attacher.prog_fd);
	}
	if (!err)
		err = programs_ids(site->attacher.prog_fd, site->entry_ids);
	return err ? err : programs_pin(site->pins.layer_dir, site->attacher.prog_fd);
}

static int open_devices(struct site *site)
{
	_cleanup_free_ char *left = NULL;
	int err = texts_get(&site->pins, LEFT_TEXT, &left);

	if (err && err != -ENOENT)
		return err;
	return devices_open(&site->attacher, site->place, left, &site->devices);
}

static int begin(struct site *site, struct engine *engine)
{
	int err;

	site->engine = engine;
	site->attacher.layer_dir = site->pins.layer_dir;
	err = load_programs(site);
	if (err)
		return failed(site, "its programs", err);
	err = open_devices(site);
	if (err)
		return failed(site, "network devices", err);
	/* Pins of old programs that a device still runs are kept, so that they are recognised next
	 * time. */
	if (!devices_left_behind(site->devices))
		err = programs_drop_others(site->pins.layer_dir, site->attacher.prog_fd);
	return err ? failed(site, "unpinning old programs", err) : 0;
}

void site_rest(struct site *site)
{
	for (int i = 0; site->entries && i < PROGRAMS; i++) {
		int *fd = &site->attacher.prog_fd[i / FRAMINGS][i % FRAMINGS];

		cleanup_close(fd);
		*fd = -1;
	}
}

int site_open_home(struct site *site, struct engine *engine, enum attach_way way)
{
	clear(site);
	site->nsid = LINKS_HERE;
	site->attacher.way = way;
	layers_pause_others(&site->pins);
	return begin(site, engine);
}

int site_open(struct site *site, struct engine *engine, const struct site *home)
{
	bool set_aside;
	int err;

	clear(site);
	site->attacher.way = home->attacher.way;
	pins_name(site->cookie, &site->pins);
	err = pins_own(&site->pins, &home->pins);
	if (err == -EWOULDBLOCK)
		return -EWOULDBLOCK;
	if (err)
		return failed(site, site->pins.netns_dir, err);
	site->owned = true;
	err = layer_share(&site->pins, home->pins.layer_dir, &set_aside);
	if (err)
		return failed(site, site->pins.layer_dir, err);
	if (set_aside)
		log_warning("other-build",
			    "%s: the programs of another daemon stay and keep translating, ours "
			    "are attached beside them",
			    site->place);
	layers_pause_others(&site->pins);
	node_look_back();
	err = begin(site, engine);
	site_rest(site);
	return err;
}

static int keep_left(const struct site *site)
{
	return texts_put(&site->pins, LEFT_TEXT, devices_left(site->devices));
}

int site_leave_device(struct site *site, const char *name)
{
	int err = devices_leave(site->devices, name);

	return err ? err : keep_left(site);
}

int site_take_back_device(struct site *site, const char *name)
{
	int err = devices_take_back(site->devices, name);

	site_rest(site);
	return err ? err : keep_left(site);
}

static void complain(const char *device, int err)
{
	log_error("detach-failed", "cannot detach from %s: %s", device, strerror(-err));
}

int site_remove(struct site *site)
{
	int err = removal_do(&site->pins, complain);

	return err ? failed(site, "not everything could be removed", err) : 0;
}

void site_forget(struct site *site)
{
	int err = pins_remove_tree(site->pins.netns_dir);

	if (err)
		failed(site, site->pins.netns_dir, err);
}

void site_close(struct site *site)
{
	devices_close(site->devices);
	site_rest(site);
	if (site->owned)
		pins_disown(&site->pins);
	cleanup_close(&site->lock_fd);
}
