// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtimes/java/hotspot.h"
#include "inspect/process_memory.h"

/* Walks end there, whatever the process's memory says. */
#define FIELDS_MAX 1024
#define STREAM_MAX 16384 /* bytes */

/* Until Java 20: six numbers of 16 bits for each field. */
#define DECLARED_SIZE  12
#define DECLARED_NAME  2
#define DECLARED_PLACE 8
#define PLACE_TAG_BITS 2

/*
 * Since then a stream of numbers: of the fields that the class declares, and of those that the
 * virtual machine adds; then for each its name, type, offset, access, flags, and a number more for
 * each of some flags. A number has bytes of 6 bits, the lowest ones first, none of them 0; all but
 * the last of its five bytes at most are above a limit.
 */
#define STREAM_BITS  6
#define STREAM_BYTES 5
#define STREAM_ZERO  1
#define STREAM_LIMIT 192
#define FLAGS_MORE   (1U << 0 | 1U << 2 | 1U << 4) /* it has a value, type parameters, a group */

struct stream {
	const __u8 *at, *end;
};

/* The next number; 0 also at the end. */
static __u32 stream_next(struct stream *stream)
{
	__u32 value = 0;

	for (int i = 0; i < STREAM_BYTES && stream->at < stream->end; i++) {
		__u8 byte = *stream->at++;

		value += (__u32)(byte - STREAM_ZERO) << (i * STREAM_BITS);
		if (byte < STREAM_LIMIT)
			break;
	}
	return value;
}

static __u64 constant(const struct hotspot *hotspot, __u64 class, __u64 index)
{
	__u64 constants = process_memory_u64(hotspot->fd, class + hotspot->class_constants);

	return process_memory_u64(hotspot->fd,
				  constants + hotspot->constants_size + index * sizeof(__u64));
}

/* Find a field among those that a stream tells. */
static int find_in_stream(const struct hotspot *hotspot, __u64 class, struct stream stream,
			  const char *name, __u32 *ret_offset)
{
	__u32 count = stream_next(&stream);

	stream_next(&stream);
	for (__u32 i = 0; i < count && i < FIELDS_MAX; i++) {
		__u32 index = stream_next(&stream), offset, flags;

		stream_next(&stream);
		offset = stream_next(&stream);
		stream_next(&stream);
		flags = stream_next(&stream) & FLAGS_MORE;
		for (int more = __builtin_popcount(flags); more; more--)
			stream_next(&stream);
		if (!hotspot_symbol_is(hotspot, constant(hotspot, class, index), name))
			continue;
		*ret_offset = offset;
		return 0;
	}
	return -ENOENT;
}

static int find_in_array(const struct hotspot *hotspot, __u64 class, const char *name,
			 __u32 *ret_offset)
{
	__u64 fields = process_memory_u64(hotspot->fd, class + hotspot->class_fields);
	__u16 count = process_memory_u16(hotspot->fd, class + hotspot->class_field_count);

	for (__u64 i = 0; i < count && i < FIELDS_MAX; i++) {
		__u64 field = fields + hotspot->array_data + i * DECLARED_SIZE;
		__u16 index = process_memory_u16(hotspot->fd, field + DECLARED_NAME);

		if (!hotspot_symbol_is(hotspot, constant(hotspot, class, index), name))
			continue;
		*ret_offset =
		    process_memory_u32(hotspot->fd, field + DECLARED_PLACE) >> PLACE_TAG_BITS;
		return 0;
	}
	return -ENOENT;
}

int hotspot_field(const struct hotspot *hotspot, __u64 class, const char *name, __u32 *ret_offset)
{
	_cleanup_free_ __u8 *bytes = NULL;
	__u32 length;
	__u64 array;

	if (hotspot->class_stream == HOTSPOT_ABSENT)
		return find_in_array(hotspot, class, name, ret_offset);
	array = process_memory_u64(hotspot->fd, class + hotspot->class_stream);
	length = process_memory_u32(hotspot->fd, array);
	if (!length || length > STREAM_MAX)
		return -ENOENT;
	bytes = malloc(length);
	if (!bytes || process_memory_read(hotspot->fd, array + hotspot->array_data, bytes, length))
		return -ENOENT;
	return find_in_stream(hotspot, class, (struct stream){bytes, bytes + length}, name,
			      ret_offset);
}
