// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "inspect/process_memory.h"

#define TEXT_MAX 128

int process_memory_read(int fd, __u64 address, void *to, size_t size)
{
	return pread(fd, to, size, (off_t)address) == (ssize_t)size ? 0 : -EFAULT;
}

__u64 process_memory_u64(int fd, __u64 address)
{
	__u64 value;

	return process_memory_read(fd, address, &value, sizeof(value)) ? 0 : value;
}

__u32 process_memory_u32(int fd, __u64 address)
{
	__u32 value;

	return process_memory_read(fd, address, &value, sizeof(value)) ? 0 : value;
}

__u16 process_memory_u16(int fd, __u64 address)
{
	__u16 value;

	return process_memory_read(fd, address, &value, sizeof(value)) ? 0 : value;
}

void process_memory_text(int fd, __u64 address, char *to, size_t size)
{
	ssize_t got = pread(fd, to, size - 1, (off_t)address);

	to[got > 0 ? got : 0] = '\0';
}

bool process_memory_is(int fd, __u64 address, const char *text)
{
	size_t size = strlen(text) + 1;
	char there[TEXT_MAX];

	return size <= sizeof(there) && !process_memory_read(fd, address, there, size) &&
	       !memcmp(there, text, size);
}
