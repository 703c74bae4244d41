// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/stop.h"
#include "engine/node.h"
#include "load/node.h"
#include "load/node_contexts.h"
#include "pins/pins.h"

/* Other daemons hold the lock while they load the probes. */
#define LOCK_TRIES   500
#define LOCK_WAIT_NS 20000000

static void name_pins(struct pins *ret_pins)
{
	ret_pins->cookie = 0;
	snprintf(ret_pins->netns_dir, sizeof(ret_pins->netns_dir), "%s", NODE_DIR);
	snprintf(ret_pins->layer_dir, sizeof(ret_pins->layer_dir), "%s", node_maps_layer_dir());
}

/* Take the lock, waiting for other daemons. `take` is one of pins_lock*(). */
static int lock(const struct pins *pins, int (*take)(const struct pins *pins))
{
	const struct timespec pause = {.tv_nsec = LOCK_WAIT_NS};
	int fd = take(pins);

	for (int i = 0; i < LOCK_TRIES && (fd == -EWOULDBLOCK || fd == -ESTALE); i++) {
		if (stop_asked())
			return -ECANCELED;
		nanosleep(&pause, NULL);
		fd = take(pins);
	}
	return fd;
}

static int open_state(const char *layer_dir)
{
	char path[PINS_PATH_MAX];

	return bpf_obj_get(pins_map_path(path, layer_dir, "node"));
}

static int read_state(const char *layer_dir, struct node *ret_node)
{
	_cleanup_close_ int fd = open_state(layer_dir);
	__u32 index = 0;

	return fd < 0 ? fd : bpf_map_lookup_elem(fd, &index, ret_node);
}

static int write_state(const char *layer_dir, const struct node *node)
{
	_cleanup_close_ int fd = open_state(layer_dir);
	__u32 index = 0;

	return fd < 0 ? fd : bpf_map_update_elem(fd, &index, node, BPF_ANY);
}

/* From here on the probes of this generation are active. */
static int hand_over(const char *layer_dir, __u32 generation)
{
	struct node node;
	int err = read_state(layer_dir, &node);

	node.generation = generation;
	node.build = probes_build();
	return err ? err : write_state(layer_dir, &node);
}

/* Remove a version of the node layer, and the contexts that it has published. */
static int remove_layer(const char *path)
{
	node_contexts_withdraw(path);
	return pins_remove_tree(path);
}

/* Layers of other versions: their probes would write the same map of contexts. */
static int remove_if_other(const char *path, const char *name, void *data)
{
	const struct pins *pins = data;

	(void)name;
	return strcmp(path, pins->layer_dir) ? remove_layer(path) : 0;
}

/* The maps, which keep the sizes that they were made with. */
static int make_or_adopt(const struct pins *pins, const struct sizes *sizes,
			 struct node_report *report)
{
	struct node node;
	bool made = read_state(pins->layer_dir, &node) != 0;
	int err = probes_make_maps(sizes, report->unpublished, sizeof(report->unpublished));

	if (err)
		return err;
	if (made) {
		node = (struct node){.halved = sizes->halved};
		err = write_state(pins->layer_dir, &node);
	}
	report->halved = node.halved;
	return err;
}

static int make_maps(const struct pins *pins, const struct sizes *sizes, struct node_report *report)
{
	int err = pins_each(pins->netns_dir, remove_if_other, (void *)pins);

	if (!err && !probes_maps_fit(report->replaced, sizeof(report->replaced)))
		err = remove_layer(pins->layer_dir);
	if (!err)
		err = pins_make_layer(pins->layer_dir);
	return err ? err : make_or_adopt(pins, sizes, report);
}

/* Probes of others stay active until all of ours are attached. */
static int replace_probes(const struct pins *pins, const char *links_dir, const struct node *before,
			  struct node_report *report)
{
	__u32 generation = before->generation + 1;
	int err;

	/* Remove remains of a daemon that was killed during its start. */
	probes_detach_others(links_dir, before->generation);
	err = probes_attach(links_dir, generation, before->flags, &report->hooks);
	if (err == -ECANCELED) {
		probes_detach_others(links_dir, before->generation);
		return err;
	}
	report->follows = !err;
	err = hand_over(pins->layer_dir, report->follows ? generation : 0);
	return err ? err : probes_detach_others(links_dir, report->follows ? generation : 0);
}

/* What was there before is followed from now on; without it, it is not. */
static void look_back(const struct pins *pins, bool listeners)
{
	char links_dir[PINS_PATH_MAX];
	struct node node;

	if (read_state(pins->layer_dir, &node) || !node.generation)
		return;
	pins_join(links_dir, pins->layer_dir, "links");
	probes_look_back(links_dir, node.generation);
	if (listeners)
		probes_look_for_listeners(links_dir, node.generation);
}

static int start_probes(const struct pins *pins, struct node_report *report)
{
	struct node node;
	char links_dir[PINS_PATH_MAX];
	int err = read_state(pins->layer_dir, &node);

	if (err)
		return err;
	pins_join(links_dir, pins->layer_dir, "links");
	report->adopted = node.generation && node.build == probes_build() &&
			  !probes_find(links_dir, node.generation, &report->hooks);
	report->follows = report->adopted;
	if (report->adopted)
		return probes_detach_others(links_dir, node.generation);
	return replace_probes(pins, links_dir, &node, report);
}

int node_open(const struct sizes *sizes, struct node_report *ret_report, int *ret_lock_fd)
{
	_cleanup_close_ int lock_fd = -1;
	struct pins pins;
	int err;

	*ret_report = (struct node_report){};
	name_pins(&pins);
	lock_fd = lock(&pins, pins_lock);
	if (lock_fd < 0)
		return lock_fd;
	err = make_maps(&pins, sizes, ret_report);
	if (!err)
		*ret_lock_fd = take_fd(&lock_fd);
	return err;
}

int node_start(int lock_fd, struct node_report *report)
{
	_cleanup_close_ int held_fd = lock_fd;
	struct pins pins;
	int err;

	(void)held_fd;
	name_pins(&pins);
	err = start_probes(&pins, report);
	if (!err)
		look_back(&pins, true);
	return err;
}

void node_look_back(void)
{
	_cleanup_close_ int lock_fd = -1;
	struct pins pins;

	name_pins(&pins);
	lock_fd = lock(&pins, pins_lock_existing);
	if (lock_fd >= 0)
		look_back(&pins, false);
}

/* The same with the node's lock held. */
static int attach_waiting(const struct pins *pins, __u32 flags)
{
	char links_dir[PINS_PATH_MAX];
	struct node node;
	int err = read_state(pins->layer_dir, &node);

	if (err)
		return err;
	pins_join(links_dir, pins->layer_dir, "links");
	if (!node.generation || node.build != probes_build() ||
	    !probes_wait(links_dir, node.generation))
		return -ENOENT;
	node.flags |= flags;
	if (!node.flags)
		return 0;
	err = write_state(pins->layer_dir, &node);
	if (!err)
		err = probes_attach_waiting(links_dir, node.generation, node.flags);
	return err ? err : 1;
}

int node_make_ready(void)
{
	char links_dir[PINS_PATH_MAX];
	struct node node;
	int err = read_state(node_maps_layer_dir(), &node);

	if (err || !node.generation || node.build != probes_build())
		return err;
	return probes_make_ready(pins_join(links_dir, node_maps_layer_dir(), "links"),
				 node.generation);
}

int node_attach_waiting(__u32 flags)
{
	_cleanup_close_ int lock_fd = -1;
	struct pins pins;

	name_pins(&pins);
	lock_fd = pins_lock_existing(&pins);
	return lock_fd < 0 ? lock_fd : attach_waiting(&pins, flags);
}

int node_set_publish(__u32 publish)
{
	_cleanup_close_ int lock_fd = -1;
	struct pins pins;
	struct node node;
	int err;

	name_pins(&pins);
	lock_fd = pins_lock_existing(&pins);
	if (lock_fd < 0)
		return lock_fd;
	err = read_state(pins.layer_dir, &node);
	node.publish = publish;
	return err ? err : write_state(pins.layer_dir, &node);
}

int node_publish(__u32 *ret_publish)
{
	struct node node;
	int err = read_state(node_maps_layer_dir(), &node);

	*ret_publish = err ? NODE_PUBLISH_UNTOLD : node.publish;
	return err;
}

int node_find_hooks(struct probe_hooks *ret_hooks)
{
	struct pins pins;
	struct node node;
	char links_dir[PINS_PATH_MAX];
	int err;

	name_pins(&pins);
	err = read_state(pins.layer_dir, &node);
	if (err || !node.generation)
		return -ENOENT;
	return probes_find(pins_join(links_dir, pins.layer_dir, "links"), node.generation,
			   ret_hooks);
}

/* The directory of a namespace is named by its cookie. */
static int is_of_namespace(const char *path, const char *name, void *data)
{
	char *end;

	(void)path;
	(void)data;
	strtoull(name, &end, 16);
	return !*end;
}

static int remove_any(const char *path, const char *name, void *data)
{
	(void)name;
	(void)data;
	return remove_layer(path);
}

int node_remove_if_unused(void)
{
	_cleanup_close_ int lock_fd = -1;
	struct pins pins;
	int used;

	name_pins(&pins);
	lock_fd = lock(&pins, pins_lock_existing);
	if (lock_fd < 0)
		return lock_fd == -ENOENT ? 0 : lock_fd;
	used = pins_each(PINS_ROOT, is_of_namespace, NULL);
	if (!used)
		used = pins_each(pins.netns_dir, remove_any, NULL);
	return used ? (used < 0 ? used : 0) : pins_remove_tree(pins.netns_dir);
}
