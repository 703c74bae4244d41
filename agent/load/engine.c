// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "abi.h"
#include "load/adopt.h"
#include "load/control.h"
#include "load/engine.h"
#include "load/node_maps.h"
#include "tc.skel.h"

struct engine {
	struct tc *tc;
	const char *layer_dir;
};

/* Let the object use what an earlier daemon left, if that fits. */
static int adopt(const struct pins *pins, struct bpf_object *object, enum adoption *ret_found,
		 struct engine_origin *origin)
{
	*ret_found = adopt_judge(pins->layer_dir, object, origin->why, sizeof(origin->why));
	origin->adopted = *ret_found == ADOPT_ALL;
	origin->set_aside = *ret_found == ADOPT_REFUSED;
	return origin->adopted ? adopt_maps(pins->layer_dir, object) : 0;
}

/* Make room for this build's layer, once its programs are known to load. */
static int prepare_layer(const struct pins *pins, enum adoption found)
{
	int err = 0;

	if (found == ADOPT_NOTHING)
		err = pins_remove_tree(pins->layer_dir);
	else if (found == ADOPT_REFUSED)
		err = pins_set_aside(pins);
	return err && err != -ENOENT ? err : pins_make_layer(pins->layer_dir);
}

static int pin_maps(const char *layer_dir, struct bpf_object *object)
{
	struct bpf_map *map;
	char path[PINS_PATH_MAX];

	bpf_object__for_each_map(map, object)
	{
		int err;

		pins_map_path(path, layer_dir, bpf_map__name(map));
		if (!adopt_is_lasting(map) || !access(path, F_OK))
			continue;
		err = bpf_obj_pin(bpf_map__fd(map), path);
		if (err)
			return err;
	}
	return 0;
}

static int program_id(const struct bpf_program *program, __u32 *ret_id)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	int err = bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size);

	if (!err)
		*ret_id = info.id;
	return err;
}

/* Programs are pinned before they are attached: that is how their classifiers are known. */
static int pin_programs(const char *layer_dir, struct bpf_object *object)
{
	struct bpf_program *program;
	char path[PINS_PATH_MAX];
	__u32 id;

	bpf_object__for_each_program(program, object)
	{
		int err = program_id(program, &id);

		if (err)
			return err;
		snprintf(path, sizeof(path), "%s/progs/%u", layer_dir, id);
		err = bpf_obj_pin(bpf_program__fd(program), path);
		if (err)
			return err;
	}
	return 0;
}

/* The version is written last: a layer without it was never finished, and never attached. */
static int finish_layer(const char *layer_dir, struct tc *tc)
{
	struct version version = {.abi = CTXPROP_ABI_VERSION, .flow_size = sizeof(struct flow)};
	__u32 index = 0;
	int err = pin_maps(layer_dir, tc->obj);

	if (!err)
		err = pin_programs(layer_dir, tc->obj);
	if (!err)
		err = control_set_paused(layer_dir, false);
	if (!err)
		err = bpf_map_update_elem(bpf_map__fd(tc->maps.version), &index, &version, BPF_ANY);
	return err;
}

static int load(struct engine *engine, const struct pins *pins, __u64 netns_cookie,
		const struct engine_options *options, struct engine_origin *origin)
{
	struct tc *tc = engine->tc;
	enum adoption found;
	int err;

	tc->rodata->netns_id = (__u32)netns_cookie;
	tc->rodata->use_request_ids = !options->ignore_request_ids;
	err = bpf_map__set_max_entries(tc->maps.flows, options->flows);
	if (!err)
		err = node_maps_share(tc->obj, NULL, 0);
	if (!err)
		err = adopt(pins, tc->obj, &found, origin);
	if (!err)
		err = tc__load(tc);
	if (!err)
		err = prepare_layer(pins, found);
	if (err)
		return err;
	origin->flows = bpf_map__max_entries(tc->maps.flows);
	return finish_layer(pins->layer_dir, tc);
}

int engine_open(const struct pins *pins, __u64 netns_cookie, const struct engine_options *options,
		struct engine **ret_engine, struct engine_origin *ret_origin)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int err;

	if (!engine)
		return -ENOMEM;
	*ret_origin = (struct engine_origin){};
	engine->layer_dir = pins->layer_dir;
	engine->tc = tc__open();
	err = engine->tc ? load(engine, pins, netns_cookie, options, ret_origin) : -errno;
	if (err)
		engine_close(engine);
	else
		*ret_engine = engine;
	return err;
}

void engine_programs(const struct engine *engine, int ret_prog_fd[HOOKS][FRAMINGS])
{
	const struct tc *tc = engine->tc;

	ret_prog_fd[HOOK_IN][FRAMING_ETHERNET] = bpf_program__fd(tc->progs.ctxprop_in_eth);
	ret_prog_fd[HOOK_IN][FRAMING_IP] = bpf_program__fd(tc->progs.ctxprop_in_ip);
	ret_prog_fd[HOOK_OUT][FRAMING_ETHERNET] = bpf_program__fd(tc->progs.ctxprop_out_eth);
	ret_prog_fd[HOOK_OUT][FRAMING_IP] = bpf_program__fd(tc->progs.ctxprop_out_ip);
}

static int unpin_if_old(const char *path, const char *name, void *data)
{
	const struct engine *engine = data;
	struct bpf_program *program;
	char own[16];
	__u32 id;

	bpf_object__for_each_program(program, engine->tc->obj)
	{
		int err = program_id(program, &id);

		if (err)
			return err;
		snprintf(own, sizeof(own), "%u", id);
		if (!strcmp(own, name))
			return 0;
	}
	return unlink(path) ? -errno : 0;
}

int engine_drop_old_programs(const struct engine *engine)
{
	char progs[PINS_PATH_MAX];

	return pins_each(pins_join(progs, engine->layer_dir, "progs"), unpin_if_old,
			 (void *)engine);
}

int engine_flows_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.flows);
}

int engine_carried_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.carried);
}

int engine_counters_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.counters);
}

struct policies_maps engine_policies(const struct engine *engine)
{
	return (struct policies_maps){
	    .image_fd = bpf_map__fd(engine->tc->maps.policies),
	    .state_fd = bpf_map__fd(engine->tc->maps.policy_state),
	};
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	tc__destroy(engine->tc);
	free(engine);
}
