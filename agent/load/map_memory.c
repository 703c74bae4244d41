// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "load/map_memory.h"
#include "pins/pins.h"

/* struct htab_elem up to its key, of a bucket, and of what a free entry is strung up by. */
#define ENTRY_HEAD  48
#define BUCKET_SIZE 16
#define FREE_HEAD   8
#define PAGE        4096
/* Free entries of one table that are kept ready for a processor (bpf_mem_alloc). */
#define CACHE_SIZE (96UL * 256)

static __u64 round_up(__u64 n, __u64 to)
{
	return (n + to - 1) / to * to;
}

static __u64 power_of_two(__u64 n)
{
	__u64 power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/* Entries that are made one by one come in the sizes of the kernel's allocator (bpf_mem_alloc). */
static __u64 allocated(__u64 size)
{
	static const __u64 sizes[] = {16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (size <= sizes[i])
			return sizes[i];
	return round_up(size, PAGE);
}

static unsigned int processors_possible(void)
{
	int processors = libbpf_num_possible_cpus();

	return processors > 0 ? (unsigned int)processors : 1;
}

static __u64 hash_most(const struct bpf_map_info *info)
{
	unsigned int processors = processors_possible();
	bool per_processor =
	    info->type == BPF_MAP_TYPE_PERCPU_HASH || info->type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	__u64 value = round_up(info->value_size, 8), entries = info->max_entries;
	__u64 entry = ENTRY_HEAD + round_up(info->key_size, 8) + (per_processor ? 8 : value);
	__u64 buckets = power_of_two(entries) * BUCKET_SIZE;

	if (info->map_flags & BPF_F_NO_PREALLOC) {
		entry = allocated(entry + FREE_HEAD);
		entries += processors * (CACHE_SIZE / entry);
	} else if (info->type == BPF_MAP_TYPE_HASH) {
		entries += processors; /* to replace entries by */
	}
	return buckets + entries * (entry + (per_processor ? value * processors : 0));
}

__u64 map_memory_most(const struct bpf_map_info *info)
{
	__u64 values = round_up(info->value_size, 8) * info->max_entries;

	switch (info->type) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return hash_most(info);
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PROG_ARRAY:
		return round_up(values, PAGE);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return values * processors_possible();
	case BPF_MAP_TYPE_QUEUE:
		return round_up(info->value_size * (info->max_entries + 1ULL), PAGE);
	case BPF_MAP_TYPE_RINGBUF:
		return info->max_entries + 3 * PAGE;
	default:
		return 0;
	}
}

/* The memory of a map as the kernel reports it; 0: it does not. */
static __u64 memory_now(int fd)
{
	static const char field[] = "memlock:";
	char path[64], line[128];
	__u64 bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && !bytes && fgets(line, sizeof(line), file))
		if (!strncmp(line, field, sizeof(field) - 1))
			bytes = strtoull(line + sizeof(field) - 1, NULL, 10);
	if (file)
		fclose(file);
	return bytes;
}

int map_memory_add(const char *path, struct map_memory *memory)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	int err = fd < 0 ? fd : bpf_obj_get_info_by_fd(fd, &info, &size);

	if (err)
		return err;
	memory->most += map_memory_most(&info);
	memory->now += memory_now(fd);
	return 0;
}

static int add(const char *path, const char *name, void *data)
{
	(void)name;
	return map_memory_add(path, data);
}

int map_memory_of(const char *layer_dir, struct map_memory *memory)
{
	char maps[PINS_PATH_MAX];

	return pins_each(pins_join(maps, layer_dir, "maps"), add, memory);
}
