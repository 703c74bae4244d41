// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdint.h>

#include "inspect/process_memory.h"
#include "runtimes/java/hotspot.h"

#define SHIFT_MAX 16           /* of the size of a segment */
#define HEAP_MAX  (1ULL << 31) /* bytes of the code cache (CODE_CACHE_SIZE_LIMIT) */

/* An address whose address is told. */
static __u64 follow(const struct hotspot *hotspot, __u64 address)
{
	return process_memory_u64(hotspot->fd, address);
}

/* Where things stand in a blob, and from a Method on. 0, or -ENOTSUP: this version is another. */
static int fill_fields(const struct hotspot *hotspot, struct java_code *code)
{
	const struct {
		__u64 offset;
		__u16 *to;
	} field[] = {
	    {hotspot->blob_name, &code->name},
	    {hotspot->blob_frame_size, &code->frame_size},
	    {hotspot->blob_frame_complete, &code->frame_complete},
	    {hotspot->blob_method, &code->method},
	    {hotspot->method_const, &code->const_method},
	    {hotspot->const_constants, &code->constants},
	    {hotspot->const_name, &code->name_index},
	    {hotspot->constants_size, &code->constants_size},
	    {hotspot->constants_holder, &code->holder},
	    {hotspot->constants_source, &code->source},
	    {hotspot->class_name, &code->class_name},
	    {hotspot->class_constants, &code->class_constants},
	    {hotspot->symbol_length, &code->symbol_length},
	    {hotspot->symbol_text, &code->symbol_text},
	    {hotspot->blob_code != HOTSPOT_ABSENT ? hotspot->blob_code : hotspot->blob_code_offset,
	     hotspot->blob_code != HOTSPOT_ABSENT ? &code->code_begin : &code->code_offset},
	};

	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		if (field[i].offset > UINT16_MAX)
			return -ENOTSUP;
		*field[i].to = (__u16)field[i].offset;
	}
	return 0;
}

static void fill_heap(const struct hotspot *hotspot, __u64 heap, struct java_heap *ret_heap)
{
	const __u64 memory = heap + hotspot->heap_memory;

	ret_heap->start = follow(hotspot, memory + hotspot->space_low);
	ret_heap->size = follow(hotspot, memory + hotspot->space_high) - ret_heap->start;
	ret_heap->segments = follow(hotspot, heap + hotspot->heap_segments + hotspot->space_start);
}

#define VERSION_NUMBERS 20 /* since then numbers are written with no byte that is 0 */

static bool are_told(const __u64 *offsets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (offsets[i] > UINT16_MAX)
			return false;
	return true;
}

/* Until Java 22: tables are in the blob. */
static bool fill_scopes_within(const struct hotspot *hotspot, struct java_scopes *scopes)
{
	const __u64 wanted[] = {hotspot->blob_dependencies, hotspot->blob_scopes_begin,
				hotspot->blob_methods};

	if (!are_told(wanted, sizeof(wanted) / sizeof(wanted[0])))
		return false;
	scopes->places_end = (__u16)hotspot->blob_dependencies;
	scopes->data = (__u16)hotspot->blob_scopes_begin;
	scopes->methods = (__u16)hotspot->blob_methods;
	return true;
}

/* Since Java 25. What lies between has other places again, and is not known. */
static bool fill_scopes_apart(const struct hotspot *hotspot, struct java_scopes *scopes)
{
	const __u64 wanted[] = {hotspot->blob_own_memory, hotspot->blob_scopes_offset,
				hotspot->blob_mutable, hotspot->blob_relocations};

	if (!are_told(wanted, sizeof(wanted) / sizeof(wanted[0])))
		return false;
	scopes->own_memory = (__u16)hotspot->blob_own_memory;
	scopes->places_end = (__u16)hotspot->blob_scopes_offset;
	scopes->data = (__u16)hotspot->blob_scopes_offset;
	scopes->methods = (__u16)hotspot->blob_relocations;
	scopes->methods_at = (__u16)hotspot->blob_mutable;
	return true;
}

/* Without these, methods that were put into others are counted as those. */
static void fill_scopes(const struct hotspot *hotspot, struct java_scopes *scopes)
{
	const __u64 wanted[] = {hotspot->blob_compilation, hotspot->blob_places};

	if (!are_told(wanted, sizeof(wanted) / sizeof(wanted[0])) ||
	    hotspot->version == HOTSPOT_ABSENT ||
	    !(fill_scopes_within(hotspot, scopes) || fill_scopes_apart(hotspot, scopes)))
		return;
	scopes->places = (__u16)hotspot->blob_places;
	scopes->first_byte = process_memory_u32(hotspot->fd, hotspot->version) >= VERSION_NUMBERS;
	scopes->compilation = (__u16)hotspot->blob_compilation;
}

/* 0, or -ENOTSUP: these are no heaps as they should be. */
static int fill_heaps(const struct hotspot *hotspot, struct java_code *code)
{
	const __u64 array = follow(hotspot, hotspot->code_heaps);
	const __u64 heaps = follow(hotspot, array + hotspot->array_elements);
	const __u32 count = process_memory_u32(hotspot->fd, array + hotspot->array_length);
	const __u64 first = follow(hotspot, heaps);
	const __u32 shift = process_memory_u32(hotspot->fd, first + hotspot->heap_shift);

	if (!count || count > JAVA_HEAPS_MAX || !shift || shift > SHIFT_MAX)
		return -ENOTSUP;
	code->segment_shift = (__u8)shift;
	for (__u32 i = 0; i < count; i++) {
		fill_heap(hotspot, follow(hotspot, heaps + i * sizeof(__u64)), &code->heap[i]);
		if (!code->heap[i].start || !code->heap[i].segments ||
		    code->heap[i].size > HEAP_MAX)
			return -ENOTSUP;
	}
	return 0;
}

/* Are the places told by which heaps, and code that stands by itself, are found? */
static bool tells_places(const struct hotspot *hotspot)
{
	const __u64 wanted[] = {
	    hotspot->code_heaps,  hotspot->array_length,  hotspot->array_elements,
	    hotspot->heap_memory, hotspot->heap_segments, hotspot->heap_shift,
	    hotspot->space_low,   hotspot->space_high,    hotspot->space_start,
	    hotspot->interpreter, hotspot->queue_start,   hotspot->queue_size,
	    hotspot->call_return,
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (wanted[i] == HOTSPOT_ABSENT)
			return false;
	return hotspot->block_size && hotspot->block_size <= UINT8_MAX;
}

int hotspot_code(const struct hotspot *hotspot, struct java_code *ret_code)
{
	__u64 queue;
	int err;

	*ret_code = (struct java_code){};
	if (!tells_places(hotspot))
		return -ENOTSUP;
	err = fill_fields(hotspot, ret_code);
	if (!err)
		err = fill_heaps(hotspot, ret_code);
	if (err)
		return err;
	ret_code->start = follow(hotspot, hotspot->code_low);
	ret_code->size = follow(hotspot, hotspot->code_high) - ret_code->start;
	fill_scopes(hotspot, &ret_code->scopes);
	queue = follow(hotspot, hotspot->interpreter);
	ret_code->interpreter = follow(hotspot, queue + hotspot->queue_start);
	ret_code->interpreter_size = process_memory_u32(hotspot->fd, queue + hotspot->queue_size);
	ret_code->call_return = follow(hotspot, hotspot->call_return);
	ret_code->block_header = (__u8)hotspot->block_size;
	return ret_code->size <= HEAP_MAX && ret_code->interpreter && ret_code->call_return
		   ? 0
		   : -ENOTSUP;
}
