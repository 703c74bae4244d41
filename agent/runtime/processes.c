// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>

#include "runtime/processes.h"

void processes_each(int runtimes_fd, void (*visit)(__u32 tgid, void *data), void *data)
{
	__u32 tgid, next;
	int err = bpf_map_get_next_key(runtimes_fd, NULL, &next);

	while (!err) {
		tgid = next;
		err = bpf_map_get_next_key(runtimes_fd, &tgid, &next);
		visit(tgid, data);
	}
}
