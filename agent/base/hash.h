/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a: a hash for tables, and to tell builds apart. */
#ifndef CTXPROP_HASH_H
#define CTXPROP_HASH_H

#include <stddef.h>
#include <string.h>
#include <linux/types.h>

#define HASH_BEGIN 0xcbf29ce484222325

/* `hash` with these bytes added to it; HASH_BEGIN is the one of no bytes. */
static inline __u64 hash_add(__u64 hash, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const __u8 *)bytes)[i]) * 0x100000001b3;
	return hash;
}

/* The same of a text, with its end. */
static inline __u64 hash_text(__u64 hash, const char *text)
{
	return hash_add(hash, text, strlen(text) + 1);
}

#endif
