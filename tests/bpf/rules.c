// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "control/compile.h"
#include "control/policy_file.h"
#include "control/policy_model.h"
#include "load/policy_maps.h"
#include "rules.h"
#include "tc.skel.h"

#define LOOPBACK 1 /* where BPF_PROG_TEST_RUN says that packets are */

static __u64 device_number(const char *name, void *data)
{
	(void)data;
	return policy_device(RIG_NETNS, !strcmp(name, "lo") ? LOOPBACK : 99);
}

static __u64 cgroup_number(const char *path, void *data)
{
	(void)path;
	(void)data;
	return 1ULL << 40; /* none that a packet of these tests comes from */
}

static struct policy_maps maps_of(const struct rig *rig)
{
	return (struct policy_maps){.image_fd = bpf_map__fd(rig->tc->maps.policies),
				    .state_fd = bpf_map__fd(rig->tc->maps.policy_state)};
}

void rules_follow(const struct rig *rig, const char *text)
{
	static const struct policy_names names = {device_number, cgroup_number, NULL};
	struct policy_maps maps = maps_of(rig);
	struct policy_image *image = NULL;
	struct policy_error error = {};
	struct policy policy;
	__u32 generation;

	if (policy_read(text, strlen(text), "policy", &policy, &error))
		fail_msg("%s", error.text);
	assert_int_equal(policy_maps_next_generation(&maps, &generation), 0);
	assert_int_equal(policy_compile(&policy, &names, generation, &image, &error), 0);
	assert_int_equal(policy_maps_put(&maps, image), 0);
	free(image);
	policy_clear(&policy);
}

void rules_none(const struct rig *rig)
{
	struct policy_maps maps = maps_of(rig);

	assert_int_equal(policy_maps_put(&maps, NULL), 0);
	/* And again: there is none to take away. */
	assert_int_equal(policy_maps_put(&maps, NULL), 0);
}

uint64_t rules_hits(const struct rig *rig, uint32_t counter)
{
	uint64_t values[512], sum = 0;
	int cpus = libbpf_num_possible_cpus();

	assert_in_range(cpus, 1, 512);
	assert_int_equal(
	    bpf_map_lookup_elem(bpf_map__fd(rig->tc->maps.rule_hits), &counter, values), 0);
	for (int cpu = 0; cpu < cpus; cpu++)
		sum += values[cpu];
	return sum;
}
