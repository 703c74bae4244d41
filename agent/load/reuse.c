// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "load/adopt.h"
#include "load/node_map_names.h"
#include "load/reuse.h"
#include "pins/texts.h"

/* The text with the key and the ids of programs. */
#define PROGRAMS_TEXT "programs"
#define TEXT_MAX      64

/* The id of the map that is pinned there; 0: there is none. */
static __u32 map_id(const char *path)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.id;
}

/* Add a map to a hash: its constants, or which pinned one it is. Returns whether it is there. */
static bool add_map(const char *layer_dir, const struct bpf_map *map, __u64 *hash)
{
	const char *pin = bpf_map__pin_path(map);
	char path[PINS_PATH_MAX];
	const void *constants;
	size_t size;
	__u32 id;

	if (bpf_map__is_internal(map)) {
		constants = bpf_map__initial_value((struct bpf_map *)map, &size);
		*hash = constants ? hash_add(*hash, constants, size) : *hash;
		return true;
	}
	if (!node_maps_has(bpf_map__name(map)) && (!layer_dir || !adopt_is_lasting(map)))
		return true;
	id = map_id(pin ? pin : pins_map_path(path, layer_dir, bpf_map__name(map)));
	*hash = hash_add(*hash, &id, sizeof(id));
	return id;
}

__u64 reuse_key(const char *layer_dir, const struct bpf_object *object, const void *bytes,
		size_t size)
{
	__u64 hash = hash_add(HASH_BEGIN, bytes, size);
	const struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		if (!add_map(layer_dir, map, &hash))
			return 0;
	}
	return hash;
}

static int open_program(const struct pins *pins, __u32 id)
{
	char progs[PINS_PATH_MAX], path[PINS_PATH_MAX], name[16];

	snprintf(name, sizeof(name), "%u", id);
	pins_join(progs, pins->layer_dir, "progs");
	return bpf_obj_get(pins_join(path, progs, name));
}

/*
 * Parse what reuse_note() has written. Returns the key; 0, which is never one: it is another text.
 */
static __u64 parse(const char *text, __u32 ret_ids[HOOKS])
{
	char *at;
	__u64 key = strtoull(text, &at, 16);

	ret_ids[HOOK_IN] = (__u32)strtoul(at, &at, 10);
	ret_ids[HOOK_OUT] = (__u32)strtoul(at, &at, 10);
	return *at ? 0 : key;
}

int reuse_find(const struct pins *pins, __u64 key, int ret_prog_fd[HOOKS])
{
	_cleanup_free_ char *text = NULL;
	__u32 ids[HOOKS];

	if (!key || texts_get(pins, PROGRAMS_TEXT, &text) || parse(text, ids) != key)
		return -ENOENT;
	_cleanup_close_ int in = open_program(pins, ids[HOOK_IN]);
	_cleanup_close_ int out = open_program(pins, ids[HOOK_OUT]);

	if (in < 0 || out < 0)
		return -ENOENT;
	ret_prog_fd[HOOK_IN] = take_fd(&in);
	ret_prog_fd[HOOK_OUT] = take_fd(&out);
	return 0;
}

int reuse_note(const struct pins *pins, __u64 key, const int prog_fd[HOOKS])
{
	char text[TEXT_MAX];
	__u32 ids[HOOKS];

	for (int i = 0; i < HOOKS; i++) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);
		int err = bpf_obj_get_info_by_fd(prog_fd[i], &info, &size);

		if (err)
			return err;
		ids[i] = info.id;
	}
	snprintf(text, sizeof(text), "%llx %u %u", (unsigned long long)key, ids[HOOK_IN],
		 ids[HOOK_OUT]);
	return texts_put(pins, PROGRAMS_TEXT, text);
}
