// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "abi.h"
#include "base/cleanup.h"
#include "base/jobs.h"
#include "load/adopt.h"
#include "load/control.h"
#include "load/engine.h"
#include "load/entry.h"
#include "load/node_maps.h"
#include "load/reuse.h"
#include "load/rules.h"
#include "tc.skel.h"

static const char *const program_names[HOOKS][FRAMINGS] = {
    [HOOK_IN] = {[FRAMING_ETHERNET] = "ctxprop_in_eth", [FRAMING_IP] = "ctxprop_in_ip"},
    [HOOK_OUT] = {[FRAMING_ETHERNET] = "ctxprop_out_eth", [FRAMING_IP] = "ctxprop_out_ip"},
};

struct engine {
	struct tc *tc; /* has made the maps, and no programs */
	struct engine_options options;
	__u32 netns_id;          /* 0: shared */
	const struct pins *pins; /* the caller's */
	enum adoption found;
	int shared_fd; /* of the map of shared programs; -1: they serve one namespace */
	int program_fd[HOOKS][FRAMINGS]; /* -1: not loaded yet */
	bool reuses;                     /* programs for Ethernet of an earlier daemon */
};

static void cleanup_tc(struct tc **tc)
{
	tc__destroy(*tc);
}

#define _cleanup_tc_ __attribute__((cleanup(cleanup_tc)))

/* An object of which only this program is to be loaded; NULL: none. */
static struct tc *open_object(const struct engine *engine, const char *name)
{
	struct tc *tc = tc__open();
	struct bpf_program *program;

	if (!tc)
		return NULL;
	bpf_object__for_each_program(program, tc->obj)
	    bpf_program__set_autoload(program, name && !strcmp(bpf_program__name(program), name));
	tc->rodata->netns_id = engine->netns_id;
	tc->rodata->use_request_ids = !engine->options.ignore_request_ids;
	tc->rodata->use_http2 = engine->options.http2;
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
	int fd = entry_share(engine->pins->layer_dir, engine->program_fd);

	if (fd < 0)
		return fd;
	cleanup_close(&engine->shared_fd);
	engine->shared_fd = fd;
	return 0;
}

/* Take the programs that an earlier daemon of this build has pinned for these maps. */
static void reuse(struct engine *engine, __u64 key)
{
	int fds[HOOKS];

	if (engine->options.shared || reuse_find(engine->pins, key, fds))
		return;
	for (int hook = 0; hook < HOOKS; hook++)
		engine->program_fd[hook][FRAMING_ETHERNET] = fds[hook];
	engine->reuses = true;
}

/* What the programs become that are loaded over these maps. */
static __u64 key_of(const struct engine *engine)
{
	size_t size;
	const void *bytes = tc__elf_bytes(&size);

	return reuse_key(engine->pins->layer_dir, engine->tc->obj, bytes, size);
}

/* For the next daemon; without it that one loads them anew. */
static void note_programs(const struct engine *engine)
{
	int first[HOOKS];

	if (engine->options.shared || engine->reuses)
		return;
	for (int i = 0; i < HOOKS; i++)
		first[i] = engine->program_fd[i][FRAMING_ETHERNET];
	reuse_note(engine->pins, key_of(engine), first);
}

/* The maps of all. */
static int make_maps(struct engine *engine, struct engine_origin *origin)
{
	struct tc *tc = engine->tc;
	int err = sizes_set(tc->obj, &engine->options.sizes);

	if (!err)
		err = node_maps_share(tc->obj, NULL, 0);
	if (!err)
		err = adopt(engine->pins, tc->obj, &engine->found, origin);
	if (err)
		return err;
	tc->rodata->flows_room = origin->flows = bpf_map__max_entries(tc->maps.flows);
	if (origin->adopted)
		reuse(engine, key_of(engine));
	return tc__load(tc);
}

/*
 * Let an object use the maps of another one that was made of the same bytes, and so has them in the
 * same order, except its constants. (Names do not help: a map that another program has pinned has
 * the name that this one gave it.)
 */
static int use_maps_of(const struct bpf_object *owner, struct bpf_object *object)
{
	const struct bpf_map *same = NULL;
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, object)
	{
		same = bpf_object__next_map(owner, same);
		if (!err && !bpf_map__is_internal(map))
			err = same ? bpf_map__reuse_fd(map, bpf_map__fd(same)) : -ENOENT;
	}
	return err;
}

/* A descriptor that outlives the object, or -errno. */
static int load_program(const struct engine *engine, const char *name)
{
	_cleanup_tc_ struct tc *tc = open_object(engine, name);
	int err, fd;

	if (!tc)
		return -errno;
	tc->rodata->flows_room = engine->tc->rodata->flows_room;
	err = use_maps_of(engine->tc->obj, tc->obj);
	if (!err)
		err = tc__load(tc);
	if (err)
		return err;
	fd = bpf_program__fd(bpf_object__find_program_by_name(tc->obj, name));
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

int engine_load(struct engine *engine, enum hook hook, enum framing framing)
{
	int *fd = &engine->program_fd[hook][framing], loaded;

	if (*fd >= 0)
		return 0;
	loaded = load_program(engine, program_names[hook][framing]);
	if (loaded >= 0)
		*fd = loaded;
	return loaded < 0 ? loaded : 0;
}

int engine_finish(struct engine *engine)
{
	int err = prepare_layer(engine->pins, engine->found);

	if (!err)
		err = finish_layer(engine->pins->layer_dir, engine->tc, engine->options.paused);
	if (err)
		return err;
	note_programs(engine);
	return engine->options.shared ? share_programs(engine) : 0;
}

/* One of the framing's programs, for a job. */
struct need {
	struct engine *engine;
	enum hook hook;
	enum framing framing;
};

static int load_needed(void *data)
{
	const struct need *need = data;

	return engine_load(need->engine, need->hook, need->framing);
}

int engine_need(struct engine *engine, enum framing framing)
{
	struct need needs[HOOKS];
	struct job jobs[HOOKS];

	if (engine->program_fd[HOOK_IN][framing] >= 0 && engine->program_fd[HOOK_OUT][framing] >= 0)
		return 0;
	for (int hook = 0; hook < HOOKS; hook++) {
		needs[hook] = (struct need){engine, (enum hook)hook, framing};
		jobs[hook] = (struct job){.run = load_needed, .data = &needs[hook]};
	}
	jobs_run(jobs, HOOKS);
	for (int hook = 0; hook < HOOKS; hook++)
		if (jobs[hook].err)
			return jobs[hook].err; /* the next device tries again */
	return engine->options.shared ? share_programs(engine) : 0;
}

int engine_open(const struct pins *pins, __u64 netns_cookie, const struct engine_options *options,
		struct engine **ret_engine, struct engine_origin *ret_origin)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int err;

	if (!engine)
		return -ENOMEM;
	*ret_origin = (struct engine_origin){};
	engine->shared_fd = -1;
	memset(engine->program_fd, -1, sizeof(engine->program_fd));
	engine->options = *options;
	engine->netns_id = options->shared ? 0 : (__u32)netns_cookie;
	engine->pins = pins;
	engine->tc = open_object(engine, NULL);
	err = engine->tc ? make_maps(engine, ret_origin) : -errno;
	if (err)
		engine_close(engine);
	else
		*ret_engine = engine;
	return err;
}

void engine_programs(const struct engine *engine, int ret_prog_fd[HOOKS][FRAMINGS])
{
	memcpy(ret_prog_fd, engine->program_fd, sizeof(engine->program_fd));
}

int engine_shared_fd(const struct engine *engine)
{
	return engine->shared_fd;
}

int engine_flows_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.flows);
}

int engine_carried_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.carried);
}

int engine_http2_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.http2_flows);
}

int engine_http2_served_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.http2_served);
}

int engine_formers_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.formers);
}

int engine_shares_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.flow_shares);
}

int engine_counters_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.counters);
}

int engine_records_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.records);
}

int engine_recording_fd(const struct engine *engine)
{
	return bpf_map__fd(engine->tc->maps.recording);
}

int engine_attend(const struct engine *engine, const struct attended *attended)
{
	__u32 index = 0;

	return bpf_map_update_elem(bpf_map__fd(engine->tc->maps.attended), &index, attended,
				   BPF_ANY);
}

struct connections_maps engine_connections(const struct engine *engine)
{
	return (struct connections_maps){
	    .records_fd = engine_records_fd(engine),
	    .recording_fd = engine_recording_fd(engine),
	    .attended_fd = bpf_map__fd(engine->tc->maps.attended),
	    .counters_fd = engine_counters_fd(engine),
	    .netns = engine->netns_id,
	};
}

struct policy_maps engine_policy_maps(const struct engine *engine)
{
	return (struct policy_maps){
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
	for (int i = 0; i < HOOKS * FRAMINGS; i++)
		cleanup_close(&engine->program_fd[i / FRAMINGS][i % FRAMINGS]);
	cleanup_close(&engine->shared_fd);
	tc__destroy(engine->tc);
	free(engine);
}
