// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "inspect/process_memory.h"
#include "memory.h"

struct memory memory;

static __u8 byte_at(__u64 address)
{
	const size_t at = address % MEMORY_WINDOW;

	return at < memory.size ? memory.bytes[at] : 0;
}

int process_memory_read(int fd, __u64 address, void *to, size_t size)
{
	__u8 *bytes = to;

	(void)fd;
	if (++memory.reads > memory.reads_max)
		abort();
	if (address >= MEMORY_END || size > MEMORY_END - address)
		return -EFAULT;
	for (size_t i = 0; i < size; i++)
		bytes[i] = byte_at(address + i);
	return 0;
}

void process_memory_text(int fd, __u64 address, char *to, size_t size)
{
	to[process_memory_read(fd, address, to, size - 1) ? 0 : size - 1] = '\0';
}
