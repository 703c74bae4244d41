// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>

#include "inspect/proc_reader.h"
#include "who/pages.h"
#include "who/who.h"

int pages_copy(int map_fd, struct proc_reader *reader, __u64 address)
{
	struct who_page page = {.length = sizeof(page.bytes)};

	if (proc_reader_memory(reader, address, page.bytes, page.length)) {
		page.length = WHO_PAGE;
		if (proc_reader_memory(reader, address, page.bytes, page.length))
			page.length = 0;
	}
	return bpf_map_update_elem(map_fd, &address, &page, BPF_ANY);
}

void pages_forget(int map_fd)
{
	__u64 address;

	while (!bpf_map_get_next_key(map_fd, NULL, &address))
		if (bpf_map_delete_elem(map_fd, &address))
			return;
}
