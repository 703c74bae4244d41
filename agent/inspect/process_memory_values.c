// SPDX-License-Identifier: Apache-2.0
/* Reads values by process_memory_read(), which tests replace by one for recorded memory. */
#include <string.h>

#include "inspect/process_memory.h"

#define TEXT_MAX 128

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

bool process_memory_is(int fd, __u64 address, const char *text)
{
	size_t size = strlen(text) + 1;
	char there[TEXT_MAX];

	return size <= sizeof(there) && !process_memory_read(fd, address, there, size) &&
	       !memcmp(there, text, size);
}
