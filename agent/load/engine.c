// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "abi.h"
#include "base/cleanup.h"
#include "load/adopt.h"
#include "load/control.h"
#include "load/engine.h"
#include "load/entry.h"
#include "load/node_maps.h"
#include "tc.skel.h"

struct engine {
	struct tc *tc;
	int programs_fd; /* of the map of shared programs; -1: they serve one namespace */
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

/* The version is written last: a layer without it was never finished, and never attached. */
static int finish_layer(const char *layer_dir, struct tc *tc)
{
	struct version version = {.abi = CTXPROP_ABI_VERSION, .flow_size = sizeof(struct flow)};
	__u32 index = 0;
	int err = pin_maps(layer_dir, tc->obj);

	if (!err)
		err = control_set_paused(layer_dir, false);
	if (!err)
		err = bpf_map_update_elem(bpf_map__fd(tc->maps.version), &index, &version, BPF_ANY);
	return err;
}

static int share_programs(struct engine *engine, const char *layer_dir)
{
	int fds[HOOKS][FRAMINGS];

	engine_programs(engine, fds);
	engine->programs_fd = entry_share(layer_dir, fds);
	return engine->programs_fd < 0 ? engine->programs_fd : 0;
}

static int load(struct engine *engine, const struct pins *pins, __u64 netns_cookie,
		const struct engine_options *options, struct engine_origin *origin)
{
	struct tc *tc = engine->tc;
	enum adoption found;
	int err;

	tc->rodata->netns_id = options->shared ? 0 : (__u32)netns_cookie;
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
	err = finish_layer(pins->layer_dir, tc);
	return err || !options->shared ? err : share_programs(engine, pins->layer_dir);
}

int engine_open(const struct pins *pins, __u64 netns_cookie, const struct engine_options *options,
		struct engine **ret_engine, struct engine_origin *ret_origin)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int err;

	if (!engine)
		return -ENOMEM;
	*ret_origin = (struct engine_origin){};
	engine->programs_fd = -1;
	engine->tc = tc__open();
	err = engine->tc ? load(engine, pins, netns_cookie, options, ret_origin) : -errno;
	if (err)
		engine_close(engine);
	else
		*ret_engine = engine;
	return err;
}

void engine_programs_of(const struct tc *tc, int ret_prog_fd[HOOKS][FRAMINGS])
{
	ret_prog_fd[HOOK_IN][FRAMING_ETHERNET] = bpf_program__fd(tc->progs.ctxprop_in_eth);
	ret_prog_fd[HOOK_IN][FRAMING_IP] = bpf_program__fd(tc->progs.ctxprop_in_ip);
	ret_prog_fd[HOOK_OUT][FRAMING_ETHERNET] = bpf_program__fd(tc->progs.ctxprop_out_eth);
	ret_prog_fd[HOOK_OUT][FRAMING_IP] = bpf_program__fd(tc->progs.ctxprop_out_ip);
}

void engine_programs(const struct engine *engine, int ret_prog_fd[HOOKS][FRAMINGS])
{
	engine_programs_of(engine->tc, ret_prog_fd);
}

int engine_shared_fd(const struct engine *engine)
{
	return engine->programs_fd;
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

int engine_attend(const struct engine *engine, const struct attended *attended)
{
	__u32 index = 0;

	return bpf_map_update_elem(bpf_map__fd(engine->tc->maps.attended), &index, attended,
				   BPF_ANY);
}

struct policies_maps engine_policies(const struct engine *engine)
{
	return (struct policies_maps){
	    .image_fd = bpf_map__fd(engine->tc->maps.policies),
	    .state_fd = bpf_map__fd(engine->tc->maps.policy_state),
	    .hits_fd = bpf_map__fd(engine->tc->maps.rule_hits),
	    .owners_fd = bpf_map__fd(engine->tc->maps.rule_owners),
	};
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	tc__destroy(engine->tc);
	cleanup_close(&engine->programs_fd);
	free(engine);
}
