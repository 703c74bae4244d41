// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "control/policy_model.h"
#include "control/policy_text.h"
#include "daemon/policy_hits.h"

/* The first counters are those of the built-in rules. */
#define FIRST POLICY_DIRS

/* A hash of everything that a rule says; never 0. */
static __u64 identity(const struct policy_rule *rule)
{
	__u64 hash = 0xcbf29ce484222325ULL ^ rule->prio; /* FNV-1a */
	char text[POLICY_RULE_TEXT_MAX];

	for (const char *c = rule_text(text, rule); *c; c++)
		hash = (hash ^ (__u64)(unsigned char)*c) * 0x100000001b3ULL;
	return hash ? hash : 1;
}

static int owners_get(const struct policy_maps *maps, struct policy_owners *ret)
{
	__u32 index = 0;

	return bpf_map_lookup_elem(maps->owners_fd, &index, ret);
}

static int owners_put(const struct policy_maps *maps, const struct policy_owners *owners)
{
	__u32 index = 0;

	return bpf_map_update_elem(maps->owners_fd, &index, owners, BPF_ANY);
}

/* The counter of a rule, or one that is free (`rule` 0); POLICY_COUNTERS: there is none. */
static __u32 find(const struct policy_owners *owners, __u64 rule)
{
	__u32 i = FIRST;

	while (i < POLICY_COUNTERS && owners->rule[i] != rule)
		i++;
	return i;
}

/* Counters of one rule on all CPUs. */
static __u64 *values_alloc(int *ret_cpus)
{
	*ret_cpus = libbpf_num_possible_cpus();
	return *ret_cpus < 0 ? NULL : calloc((size_t)*ret_cpus, sizeof(__u64));
}

static int reset(const struct policy_maps *maps, __u32 counter)
{
	int cpus;
	_cleanup_free_ __u64 *zeros = values_alloc(&cpus);

	if (!zeros)
		return cpus < 0 ? cpus : -ENOMEM;
	return bpf_map_update_elem(maps->hits_fd, &counter, zeros, BPF_ANY);
}

/* A new rule: a free counter, which begins at 0. */
static int take_free(const struct policy_maps *maps, struct policy_owners *owners, __u64 rule,
		     __u32 *ret_counter)
{
	__u32 counter = find(owners, 0);
	int err = counter < POLICY_COUNTERS ? reset(maps, counter) : -ENOSPC;

	if (err)
		return err;
	owners->rule[counter] = rule;
	*ret_counter = counter;
	return 0;
}

int policy_hits_assign(const struct policy_maps *maps, const struct policy *policy,
		       struct policy_image *image)
{
	struct policy_owners owners;
	int err = owners_get(maps, &owners);

	for (size_t i = 0; !err && i < policy->count; i++) {
		__u64 rule = identity(&policy->rules[i]);
		__u32 counter = find(&owners, rule);

		if (counter == POLICY_COUNTERS)
			err = take_free(maps, &owners, rule, &counter);
		image->verdict[i].counter = (__u16)counter;
	}
	return err ? err : owners_put(maps, &owners);
}

void policy_hits_release(const struct policy_maps *maps, const struct policy *policy)
{
	struct policy_owners owners, kept = {};

	if (owners_get(maps, &owners))
		return;
	for (size_t i = 0; i < policy->count; i++) {
		__u64 rule = identity(&policy->rules[i]);
		__u32 counter = find(&owners, rule);

		if (counter < POLICY_COUNTERS)
			kept.rule[counter] = rule;
	}
	owners_put(maps, &kept);
}

static int read_one(const struct policy_maps *maps, __u32 counter, __u64 *values, int cpus,
		    __u64 *ret)
{
	int err = bpf_map_lookup_elem(maps->hits_fd, &counter, values);

	*ret = 0;
	for (int cpu = 0; !err && cpu < cpus; cpu++)
		*ret += values[cpu];
	return err;
}

int policy_hits_read(const struct policy_maps *maps, const struct policy *policy,
		     struct policy_hits *ret)
{
	int cpus;
	_cleanup_free_ __u64 *values = values_alloc(&cpus);
	struct policy_owners owners;
	int err = values ? owners_get(maps, &owners) : -ENOMEM;

	*ret = (struct policy_hits){};
	for (size_t i = 0; !err && i < policy->count; i++) {
		__u32 counter = find(&owners, identity(&policy->rules[i]));

		if (counter < POLICY_COUNTERS)
			err = read_one(maps, counter, values, cpus, &ret->rule[i]);
	}
	for (size_t i = 0; !err && i < POLICY_BUILTIN_RULES; i++)
		err = read_one(maps, policy_builtin(i)->dir, values, cpus, &ret->builtin[i]);
	return err;
}
