// SPDX-License-Identifier: GPL-2.0-only
/*
 * An iterator over all BPF programs of the kernel: those of others that use a map, and our
 * samplers. Unlike bpf(2), which gives the ids of programs to CAP_SYS_ADMIN only, it needs no other
 * rights than probes do.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "record/trace_readers.h"

#define USED_MAPS_MAX 64 /* of a program: the kernel's MAX_USED_MAPS */

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;

struct bpf_map {
	__u32 id;
	char name[TRACE_READER_NAME];
};

struct bpf_prog_aux {
	__u32 used_map_cnt;
	__u32 id;
	struct bpf_map **used_maps;
	char name[TRACE_READER_NAME];
};

struct bpf_prog {
	enum bpf_prog_type type;
	struct bpf_prog_aux *aux;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_prog {
	struct bpf_iter_meta *meta;
	struct bpf_prog *prog;
};

#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACE_READERS_OWN_MAPS);
	__type(key, char[TRACE_READER_NAME]);
	__type(value, __u8);
} own_map_names SEC(".maps");

__u32 wanted_map; /* its id */

/* A walk over the maps that a program uses. */
struct walk {
	struct bpf_map **maps;
	__u32 count;
	__u32 wanted; /* 1: the wanted one is among them */
	__u32 own;    /* so many are called as ours are */
};

static __always_inline int is_named_as_ours(const struct bpf_map *map)
{
	char name[TRACE_READER_NAME] = {};

	bpf_probe_read_kernel(name, sizeof(name), &map->name);
	return bpf_map_lookup_elem(&own_map_names, name) != NULL;
}

/* As a callback of bpf_loop(): is number `i` the wanted one? */
static long look_for_wanted(__u32 i, struct walk *walk)
{
	struct bpf_map *map = NULL;
	__u32 id = 0;

	if (i >= walk->count || bpf_probe_read_kernel(&map, sizeof(map), walk->maps + i))
		return 1;
	bpf_probe_read_kernel(&id, sizeof(id), &map->id);
	walk->wanted = id == wanted_map;
	return walk->wanted;
}

/* The same: is it called as one of ours? */
static long count_own(__u32 i, struct walk *walk)
{
	struct bpf_map *map = NULL;

	if (i >= walk->count || bpf_probe_read_kernel(&map, sizeof(map), walk->maps + i))
		return 1;
	walk->own += is_named_as_ours(map);
	return walk->own >= TRACE_READERS_OWN;
}

/* Does a program use the map? `*ret_own`: it is ours. */
static __always_inline int is_reader(const struct bpf_prog_aux *aux, __u8 *ret_own)
{
	struct walk walk = {.maps = aux->used_maps, .count = aux->used_map_cnt};

	bpf_loop(USED_MAPS_MAX, look_for_wanted, &walk, 0);
	if (walk.wanted)
		bpf_loop(USED_MAPS_MAX, count_own, &walk, 0);
	*ret_own = walk.own >= TRACE_READERS_OWN;
	return walk.wanted;
}

SEC("iter/bpf_prog")
int find_trace_readers(struct bpf_iter__bpf_prog *ctx)
{
	const struct bpf_prog *program = ctx->prog;
	struct trace_reader found = {};

	if (!program || !is_reader(program->aux, &found.own))
		return 0;
	found.samples = program->type == BPF_PROG_TYPE_PERF_EVENT;
	if (found.own && !found.samples)
		return 0;
	found.id = program->aux->id;
	bpf_probe_read_kernel(found.name, sizeof(found.name), &program->aux->name);
	bpf_seq_write(ctx->meta->seq, &found, sizeof(found));
	return 0;
}
