// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "flows/counters.h"

int counters_read(int fd, struct counters *ret_counters)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct counters *each = NULL;
	__u32 zero = 0;
	int err;

	if (cpus < 0)
		return cpus;
	each = calloc((size_t)cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	err = bpf_map_lookup_elem(fd, &zero, each);
	if (err)
		return err;
	*ret_counters = (struct counters){};
	for (int cpu = 0; cpu < cpus; cpu++)
		for (__u32 reason = 0; reason < REASON_COUNT; reason++)
			ret_counters->count[reason] += each[cpu].count[reason];
	return 0;
}
