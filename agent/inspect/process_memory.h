/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the memory of another process, by a descriptor for /proc/PID/mem. */
#ifndef CTXPROP_PROCESS_MEMORY_H
#define CTXPROP_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* 0, or -EFAULT when nothing can be read there. */
int process_memory_read(int fd, __u64 address, void *to, size_t size);

/* The number at this address; 0 also when it cannot be read. */
__u64 process_memory_u64(int fd, __u64 address);
__u32 process_memory_u32(int fd, __u64 address);
__u16 process_memory_u16(int fd, __u64 address);

/* The text at this address, cut where it does not fit; empty when it cannot be read. */
void process_memory_text(int fd, __u64 address, char *to, size_t size);

/* Is this text, with its NUL, at this address? */
bool process_memory_is(int fd, __u64 address, const char *text);

#endif
