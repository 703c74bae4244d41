// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>

#include "base/cleanup.h"
#include "base/rule_names.h"
#include "load/rules.h"

/* Have the programs a mask for it? */
#ifdef CTXPROP_ABLATION
static const bool has_mask = true;
#else
static const bool has_mask = false;
#endif

static __u64 switched_off;

int rules_switch_off(const char *name)
{
	int rule = rule_by_name(name);

	if (rule < 0)
		return -ENOENT;
	if (!has_mask)
		return -ENOTSUP;
	switched_off |= 1ULL << rule;
	return 0;
}

__u64 rules_switched_off(void)
{
	return switched_off;
}

/* Where the mask stands in the read-only data of an object; -ENOENT: it has none. */
static int mask_offset(const struct btf *btf)
{
	int section = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	const struct btf_type *type = section < 0 ? NULL : btf__type_by_id(btf, (__u32)section);
	const struct btf_var_secinfo *var = type ? btf_var_secinfos(type) : NULL;

	for (int i = 0; type && i < btf_vlen(type); i++) {
		const struct btf_type *of = btf__type_by_id(btf, var[i].type);

		if (!strcmp(btf__name_by_offset(btf, of->name_off), "rules_off"))
			return (int)var[i].offset;
	}
	return -ENOENT;
}

/* The map with its read-only data. libbpf calls it by the object's name and ".rodata". */
static struct bpf_map *read_only_map(const struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		const char *dot = strrchr(bpf_map__name(map), '.');

		if (dot && !strcmp(dot, ".rodata"))
			return map;
	}
	return NULL;
}

int rules_tell(struct bpf_object *object)
{
	_cleanup_free_ char *values = NULL;
	struct bpf_map *map;
	const void *initial;
	size_t size = 0;
	int offset;

	if (!switched_off)
		return 0;
	offset = mask_offset(bpf_object__btf(object));
	if (offset < 0)
		return 0; /* no rule is asked in it */
	map = read_only_map(object);
	initial = map ? bpf_map__initial_value(map, &size) : NULL;
	if (!initial || (size_t)offset + sizeof(switched_off) > size)
		return -EINVAL;
	values = malloc(size);
	if (!values)
		return -ENOMEM;
	memcpy(values, initial, size);
	memcpy(values + offset, &switched_off, sizeof(switched_off));
	return bpf_map__set_initial_value(map, values, size);
}
