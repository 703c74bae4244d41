/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects of V8, the engine of Node. An address of one is odd (tagged); its first word is the
 * address of its map, which has its type, and where its properties are. Nothing moves while the
 * thread that runs the program is in the kernel.
 */
#ifndef CTXPROP_RUNTIMES_NODE_V8_BPF_H
#define CTXPROP_RUNTIMES_NODE_V8_BPF_H

#include "compat.bpf.h"
#include "probes/user.bpf.h"

/* Bytes from an object's beginning; the same in V8 10 to 13 (Node 18 to 24), without compression of
 * pointers. */
enum v8_offset {
	V8_PROPERTIES = 8, /* of an object: an array, or a dictionary */
	V8_FIELDS = 24,    /* what stands behind the parts that all objects have */
	V8_LENGTH = 8,     /* of an array */
	V8_ELEMENTS = 16,

	V8_MAP_SIZE = 8,    /* in words; then where fields begin, and at + 4 the type */
	V8_MAP_COUNTS = 16, /* bits: how many own properties, is it a dictionary? */
	V8_MAP_DESCRIPTORS = 40,
	V8_DESCRIPTORS = 24, /* three words each: name, details, value */
};

#define V8_TAG_MASK         3
#define V8_TAG              1
#define V8_ADDRESSES_MIN    4096
#define V8_WORD             8
#define V8_DICTIONARY       (1U << 21) /* of V8_MAP_COUNTS */
#define V8_OWN_SHIFT        10
#define V8_OWN_MASK         0x3ff
#define V8_PLACE_DESCRIPTOR (1U << 5) /* of details: it is no field of the object */
#define V8_PLACE_SHIFT      19
#define V8_PLACE_MASK       0x3ff

static __always_inline int v8_is_object(__u64 word)
{
	return (word & V8_TAG_MASK) == V8_TAG && word > V8_ADDRESSES_MIN;
}

/* The word at an object's byte; 0: it cannot be read, or `object` is none. */
VERIFIED_ALONE __u64 v8_word(__u64 object, __u32 at)
{
	return v8_is_object(object) ? user_read(object - V8_TAG + at) : 0;
}

/* The number that a word stands for. */
static __always_inline __u32 v8_number(__u64 word)
{
	return word >> 32;
}

static __always_inline __u64 v8_map(__u64 object)
{
	return v8_word(object, 0);
}

/* What a map tells of its objects. */
struct v8_kind {
	__u8 size;  /* in words */
	__u8 start; /* of fields, in words */
	__u8 reserved[2];
	__u16 type;
	__u16 bits;
};

static __always_inline struct v8_kind v8_kind_of_map(__u64 map)
{
	struct v8_kind kind = {};

	if (v8_is_object(map))
		bpf_probe_read_user(&kind, sizeof(kind), (void *)(map - V8_TAG + V8_MAP_SIZE));
	return kind;
}

/* Its type; 0: it is none. */
VERIFIED_ALONE __u32 v8_type(__u64 object)
{
	return v8_kind_of_map(v8_map(object)).type;
}

#endif
