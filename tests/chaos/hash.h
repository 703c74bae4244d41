/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a, 64 bits: what client and server compare instead of the bytes themselves. */
#ifndef CHAOS_HASH_H
#define CHAOS_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_EMPTY 0xcbf29ce484222325ull

/* Continue `hash` (HASH_EMPTY at first) over `len` bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *byte = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3ull;
	return hash;
}

#endif
