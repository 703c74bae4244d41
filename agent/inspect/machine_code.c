// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "inspect/machine_code.h"

#define CALL      0xe8 /* distance from its end, 4 bytes */
#define CALL_SIZE 5

static __u32 read_u32(const __u8 *at)
{
	__u32 value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

int machine_code_call(const __u8 *code, size_t size, __u64 address, __u64 target, size_t from,
		      size_t *ret_offset)
{
	for (size_t i = from; i + CALL_SIZE <= size; i++) {
		__u64 to = address + i + CALL_SIZE + (__u64)(__s32)read_u32(code + i + 1);

		if (code[i] != CALL || to != target)
			continue;
		*ret_offset = i;
		return 0;
	}
	return -ENOENT;
}

int machine_code_g_offset(const __u8 *code, size_t size, __s32 *ret_offset)
{
	/* mov %rdx,%fs:OFFSET */
	static const __u8 absolute[] = {0x64, 0x48, 0x89, 0x14, 0x25};
	/* mov $OFFSET,%rcx; mov %rdx,%fs:(%rcx) */
	static const __u8 load[] = {0x48, 0xc7, 0xc1}, store[] = {0x64, 0x48, 0x89, 0x11};

	for (size_t i = 0; i < size; i++) {
		const __u8 *at = code + i;
		size_t left = size - i;

		if (left >= 9 && !memcmp(at, absolute, sizeof(absolute))) {
			*ret_offset = (__s32)read_u32(at + sizeof(absolute));
			return 0;
		}
		if (left >= 11 && !memcmp(at, load, sizeof(load)) &&
		    !memcmp(at + 7, store, sizeof(store))) {
			*ret_offset = (__s32)read_u32(at + sizeof(load));
			return 0;
		}
	}
	return -ENOENT;
}

/* `lea -N(%rsp),%r12`, where the frame is large: its length, or 0. */
static size_t frame_bottom(const __u8 *code)
{
	static const __u8 byte[] = {0x4c, 0x8d, 0x64, 0x24}, word[] = {0x4c, 0x8d, 0xa4, 0x24};

	if (!memcmp(code, byte, sizeof(byte)))
		return 5;
	return memcmp(code, word, sizeof(word)) ? 0 : 8;
}

size_t machine_code_entry(const __u8 *code, size_t size)
{
	/* cmp 0x10(%r14) with %rsp or %r12, then jbe */
	static const __u8 small[] = {0x49, 0x3b, 0x66, 0x10}, large[] = {0x4d, 0x3b, 0x66, 0x10};
	size_t at;

	if (size < 16)
		return 0;
	at = frame_bottom(code);
	if (memcmp(code + at, at ? large : small, sizeof(small)) != 0)
		return 0;
	at += sizeof(small);
	return code[at] == 0x76 || (code[at] == 0x0f && code[at + 1] == 0x86) ? at : 0;
}

/* jmp *value(%rip), behind what marks targets of jumps, or before a prefix, in some programs. */
int machine_code_slot(const __u8 *stub, size_t size, __u64 address, __u64 *ret_slot)
{
	for (size_t i = 0; i + 6 <= size && i <= 5; i++) {
		if (stub[i] != 0xff || stub[i + 1] != 0x25)
			continue;
		*ret_slot = address + i + 6 + (__u64)(__s32)read_u32(&stub[i + 2]);
		return 0;
	}
	return -ENOENT;
}

/* data16 lea SLOT(%rip),%rdi; data16 data16 rex.W call __tls_get_addr */
int machine_code_variable(const __u8 *code, size_t size, __u64 address, __u64 *ret_slot)
{
	static const __u8 lea[] = {0x66, 0x48, 0x8d, 0x3d}, call[] = {0x66, 0x66, 0x48, 0xe8};

	for (size_t i = 0; i + 16 <= size; i++) {
		const __u8 *at = code + i;

		if (memcmp(at, lea, sizeof(lea)) != 0 || memcmp(at + 8, call, sizeof(call)) != 0)
			continue;
		*ret_slot = address + i + 8 + (__u64)(__s64)(__s32)read_u32(at + sizeof(lea));
		return 0;
	}
	return -ENOENT;
}
