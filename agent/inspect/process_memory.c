// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <unistd.h>

#include "inspect/process_memory.h"

int process_memory_read(int fd, __u64 address, void *to, size_t size)
{
	return pread(fd, to, size, (off_t)address) == (ssize_t)size ? 0 : -EFAULT;
}

void process_memory_text(int fd, __u64 address, char *to, size_t size)
{
	ssize_t got = pread(fd, to, size - 1, (off_t)address);

	to[got > 0 ? got : 0] = '\0';
}
