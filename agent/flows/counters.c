// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "flows/counters.h"

int counters_read(int fd, struct counters *ret_counters)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ __u64 *values = NULL;

	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	*ret_counters = (struct counters){};
	for (__u32 reason = 0; reason < REASON_COUNT; reason++) {
		int err = bpf_map_lookup_elem(fd, &reason, values);

		if (err)
			return err;
		for (int cpu = 0; cpu < cpus; cpu++)
			ret_counters->count[reason] += values[cpu];
	}
	return 0;
}
