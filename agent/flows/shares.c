// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>

#include "flows/shares.h"

void shares_count(struct flow_shares *shares, const struct flow *flow)
{
	if (!flow->owner)
		return;
	shares->all++;
	shares->of[(flow->owner - 1) % FLOW_OWNERS]++;
}

int shares_write(int fd, const struct flow_shares *shares)
{
	__u32 index = 0;

	return bpf_map_update_elem(fd, &index, shares, BPF_ANY);
}
