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
#include "load/reuse.h"
#include "load/rules.h"
#include "tc.skel.h"

struct engine {
	struct tc *tc[FRAMINGS]; /* the first one has made the maps; NULL: not needed yet */
	struct engine_options options;
	__u32 netns_id;        /* 0: shared */
	const char *layer_dir; /* the caller's */
	int programs_fd;       /* of the map of shared programs; -1: they serve one namespace */
	int reused_fd[HOOKS];  /* programs for Ethernet of an earlier daemon; -1: they are ours */
};

/* An object of which only the programs of one framing are to be loaded. */
static struct tc *open_programs(const struct engine *engine, enum framing framing)
{
	const bool ethernet = framing == FRAMING_ETHERNET;
	struct tc *tc = tc__open();

	if (!tc)
		return NULL;
	bpf_program__set_autoload(tc->progs.ctxprop_in_eth, ethernet);
	bpf_program__set_autoload(tc->progs.ctxprop_out_eth, ethernet);
	bpf_program__set_autoload(tc->progs.ctxprop_in_ip, !ethernet);
	bpf_program__set_autoload(tc->progs.ctxprop_out_ip, !ethernet);
	tc->rodata->netns_id = engine->netns_id;
	tc->rodata->use_request_ids = !engine->options.ignore_request_ids;
	if (rules_tell(tc->obj)) {
		tc__destroy(tc);
		return NULL;
	}
	return tc;
}

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
static int finish_layer(const char *layer_dir, struct tc *tc, bool paused)
{
	struct version version = {.abi = CTXPROP_ABI_VERSION, .flow_size = sizeof(struct flow)};
	__u32 index = 0;
	int err = pin_maps(layer_dir, tc->obj);

	if (!err)
		err = control_set_paused(layer_dir, paused);
	if (!err)
		err = bpf_map_update_elem(bpf_map__fd(tc->maps.version), &index, &version, BPF_ANY);
	return err;
}

static int share_programs(struct engine *engine)
{
	int fds[HOOKS][FRAMINGS], fd;

	engine_programs(engine, fds);
	fd = entry_share(engine->layer_dir, fds);
	if (fd < 0)
		return fd;
	cleanup_close(&engine->programs_fd);
	engine->programs_fd = fd;
	return 0;
}

/* Take the programs that an earlier daemon of this build has pinned for these maps. */
static void reuse(struct engine *engine, const struct pins *pins, __u64 key)
{
	struct tc *tc = engine->tc[FRAMING_ETHERNET];

	if (engine->options.shared || reuse_find(pins, key, engine->reused_fd))
		return;
	bpf_program__set_autoload(tc->progs.ctxprop_in_eth, false);
	bpf_program__set_autoload(tc->progs.ctxprop_out_eth, false);
}

/* What the programs would become that are opened, but not loaded. */
static __u64 key_of(const struct pins *pins, const struct tc *tc)
{
	size_t size;
	const void *bytes = tc__elf_bytes(&size);

	return reuse_key(pins, tc->obj, bytes, size);
}

/* For the next daemon; without it that one loads them anew. */
static void note_programs(const struct engine *engine, const struct pins *pins)
{
	int fds[HOOKS][FRAMINGS], first[HOOKS];

	if (engine->options.shared || engine->reused_fd[HOOK_IN] >= 0)
		return;
	engine_programs(engine, fds);
	for (int i = 0; i < HOOKS; i++)
		first[i] = fds[i][FRAMING_ETHERNET];
	reuse_note(pins, key_of(pins, engine->tc[FRAMING_ETHERNET]), first);
}

/* The first programs, and the maps of all. */
static int load(struct engine *engine, const struct pins *pins, struct engine_origin *origin)
{
	struct tc *tc = engine->tc[FRAMING_ETHERNET];
	enum adoption found;
	int err = sizes_set(tc->obj, &engine->options.sizes);

	if (!err)
		err = node_maps_share(tc->obj, NULL, 0);
	if (!err)
		err = adopt(pins, tc->obj, &found, origin);
	tc->rodata->flows_room = bpf_map__max_entries(tc->maps.flows);
	if (!err && origin->adopted)
		reuse(engine, pins, key_of(pins, tc));
	if (!err)
		err = tc__load(tc);
	if (!err)
		err = prepare_layer(pins, found);
	if (err)
		return err;
	origin->flows = bpf_map__max_entries(tc->maps.flows);
	err = finish_layer(pins->layer_dir, tc, engine->options.paused);
	if (!err)
		note_programs(engine, pins);
	return err || !engine->options.shared ? err : share_programs(engine);
}

/* Let an object use the maps of another one, but for its constants. */
static int use_maps_of(const struct bpf_object *owner, struct bpf_object *object)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, object)
	{
		const struct bpf_map *same =
		    bpf_object__find_map_by_name(owner, bpf_map__name(map));

		if (!err && !bpf_map__is_internal(map))
			err = same ? bpf_map__reuse_fd(map, bpf_map__fd(same)) : -ENOENT;
	}
	return err;
}

int engine_need(struct engine *engine, enum framing framing)
{
	struct tc *tc;
	int err;

	if (engine->tc[framing])
		return 0;
	tc = open_programs(engine, framing);
	if (!tc)
		return -errno;
	tc->rodata->flows_room = bpf_map__max_entries(engine->tc[FRAMING_ETHERNET]->maps.flows);
	err = use_maps_of(engine->tc[FRAMING_ETHERNET]->obj, tc->obj);
	if (!err)
		err = tc__load(tc);
	engine->tc[framing] = tc;
	if (!err && engine->options.shared)
		err = share_programs(engine);
	if (err) {
		engine->tc[framing] = NULL; /* the next device tries again */
		tc__destroy(tc);
	}
	return err;
}

int engine_open(const struct pins *pins, __u64 netns_cookie, const struct engine_options *options,
		struct engine **ret_engine, struct engine_origin *ret_origin)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int err;

	if (!engine)
		return -ENOMEM;
	*ret_origin = (struct engine_origin){};
	engine->programs_fd = engine->reused_fd[HOOK_IN] = engine->reused_fd[HOOK_OUT] = -1;
	engine->options = *options;
	engine->netns_id = options->shared ? 0 : (__u32)netns_cookie;
	engine->layer_dir = pins->layer_dir;
	engine->tc[FRAMING_ETHERNET] = open_programs(engine, FRAMING_ETHERNET);
	err = engine->tc[FRAMING_ETHERNET] ? load(engine, pins, ret_origin) : -errno;
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
	for (int i = 0; i < FRAMINGS; i++) {
		int fds[HOOKS][FRAMINGS];

		memset(fds, -1, sizeof(fds));
		if (engine->tc[i])
			engine_programs_of(engine->tc[i], fds);
		for (int hook = 0; i == FRAMING_ETHERNET && hook < HOOKS; hook++)
			if (engine->reused_fd[hook] >= 0)
				fds[hook][i] = engine->reused_fd[hook];
		for (int hook = 0; hook < HOOKS; hook++)
			ret_prog_fd[hook][i] = fds[hook][i];
	}
}

int engine_shared_fd(const struct engine *engine)
{
	return engine->programs_fd;
}

int engine_flows_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.flows);
}

int engine_carried_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.carried);
}

int engine_formers_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.formers);
}

int engine_shares_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.flow_shares);
}

int engine_counters_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.counters);
}

int engine_records_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.records);
}

int engine_recording_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.recording);
}

int engine_attend(const struct engine *engine, const struct attended *attended)
{
	__u32 index = 0;

	return bpf_map_update_elem(bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.attended), &index,
				   attended, BPF_ANY);
}

struct connections_maps engine_connections(const struct engine *engine)
{
	return (struct connections_maps){
	    .records_fd = engine_records_fd(engine),
	    .recording_fd = engine_recording_fd(engine),
	    .attended_fd = bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.attended),
	    .counters_fd = engine_counters_fd(engine),
	    .netns = engine->netns_id,
	};
}

struct policies_maps engine_policies(const struct engine *engine)
{
	return (struct policies_maps){
	    .image_fd = bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.policies),
	    .state_fd = bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.policy_state),
	    .hits_fd = bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.rule_hits),
	    .owners_fd = bpf_map__fd(engine->tc[FRAMING_ETHERNET]->maps.rule_owners),
	};
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	for (int i = FRAMINGS - 1; i >= 0; i--)
		tc__destroy(engine->tc[i]);
	cleanup_close(&engine->programs_fd);
	cleanup_close(&engine->reused_fd[HOOK_IN]);
	cleanup_close(&engine->reused_fd[HOOK_OUT]);
	free(engine);
}
