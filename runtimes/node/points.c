// SPDX-License-Identifier: Apache-2.0
#include "inspect/process_memory.h"
#include "runtimes/node/code_object.h"

/*
 * The table of safepoints behind the instructions (safepoint-table.h, maglev-safepoint-table.h): of
 * each call where it returns to, and, if there are any, the number of the point, plus one. Numbers
 * have as many bytes as the table says. Other fields of entries follow.
 */
struct table {
	__u32 count;
	__u32 header, entry; /* bytes */
	__u8 place_size, point_size;
};

#define HAS_POINTS(word)     ((word) & 1)
#define REGISTERS_SIZE(word) ((word) >> 1 & 7)
#define PLACE_SIZE(word)     ((word) >> 4 & 7)
#define POINT_SIZE(word)     ((word) >> 7 & 7)
#define NUMBER_SIZE_MAX      4

#define CHUNK       1024 /* bytes that are read at a time */
#define ENTRY_MAX   24
#define ENTRIES_MAX 4096

/* Returns whether it is one, with points. */
static bool read_table(int memory, const struct node_object *object, struct table *ret)
{
	__u32 head[5], count, word;
	const __u32 first = object->version == NODE_V8_13_6; /* before it: slots on the stack */

	if (process_memory_read(memory, object->start + object->size, head, sizeof(head)))
		return false;
	count = head[first];
	word = head[first + 1];
	*ret = (struct table){
	    .count = count,
	    .header = (first + 2 + (object->maglev ? object->version == NODE_V8_13_6 ? 1 : 2 : 0)) *
		      (__u32)sizeof(__u32),
	    .entry = 2 * PLACE_SIZE(word) + POINT_SIZE(word) + REGISTERS_SIZE(word) +
		     object->maglev,
	    .place_size = PLACE_SIZE(word),
	    .point_size = POINT_SIZE(word)};
	return HAS_POINTS(word) && ret->place_size && ret->place_size <= NUMBER_SIZE_MAX &&
	       ret->point_size && ret->point_size <= NUMBER_SIZE_MAX && ret->entry <= ENTRY_MAX &&
	       count <= ENTRIES_MAX && ret->header + count * ret->entry <= object->metadata;
}

static __u32 number_at(const __u8 *bytes, __u8 size)
{
	__u32 number = 0;

	for (__u8 i = 0; i < size; i++)
		number |= (__u32)bytes[i] << (8 * i);
	return number;
}

/* In entries that were read. Returns whether one has the place. */
static bool find_in(const struct table *table, const __u8 *bytes, __u32 count, __u32 place,
		    int *ret_point)
{
	for (; count; count--, bytes += table->entry) {
		if (number_at(bytes, table->place_size) != place)
			continue;
		*ret_point = (int)number_at(bytes + table->place_size, table->point_size) - 1;
		return true;
	}
	return false;
}

int node_object_point(int memory, const struct node_object *object, __u32 place)
{
	int point = NODE_POINT_NONE;
	__u8 bytes[CHUNK];
	struct table table;
	__u32 count;
	__u64 at;

	if (!read_table(memory, object, &table))
		return NODE_POINT_NONE;
	at = object->start + object->size + table.header;
	for (; table.count; table.count -= count, at += (__u64)count * table.entry) {
		count = CHUNK / table.entry < table.count ? CHUNK / table.entry : table.count;
		if (process_memory_read(memory, at, bytes, (size_t)count * table.entry) ||
		    find_in(&table, bytes, count, place, &point))
			break;
	}
	return point;
}
