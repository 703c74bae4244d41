// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>

#include "inspect/process_memory.h"
#include "runtimes/java/scopes.h"

#define PLACES_MAX 65536
#define PLACE_SIZE 16 /* PcDesc: place in the code, place in the data, and two numbers more */
#define PLACE_DATA 4

/*
 * Numbers (UNSIGNED5): bytes of 6 bits, the lowest ones first; all but the last of five bytes at
 * most are not below a limit.
 */
#define NUMBER_BITS  6
#define NUMBER_BYTES 5
#define NUMBER_LIMIT 192

/* Of one blob. */
struct tables {
	int memory;
	const struct java_scopes *scopes;
	__u64 places, places_end, data, methods;
	__u64 code; /* where its code begins */
};

struct scope {
	__u32 caller; /* place in the data of the scope that this one was put into; 0: none */
	__u32 method; /* number in the table of methods, from 1 on */
};

static __u64 at(const struct tables *tables, __u64 base, __u64 where)
{
	return base + process_memory_u32(tables->memory, where);
}

static void open_tables(struct tables *tables, const struct java_code *code, __u64 blob)
{
	const struct java_scopes *scopes = &code->scopes;
	const int memory = tables->memory;
	const __u64 base =
	    scopes->own_memory ? process_memory_u64(memory, blob + scopes->own_memory) : blob;

	tables->scopes = scopes;
	tables->places = at(tables, base, blob + scopes->places);
	tables->places_end = at(tables, base, blob + scopes->places_end);
	tables->data = scopes->own_memory ? at(tables, base, blob + scopes->data)
					  : process_memory_u64(memory, blob + scopes->data);
	tables->methods =
	    at(tables,
	       scopes->methods_at ? process_memory_u64(memory, blob + scopes->methods_at) : blob,
	       blob + scopes->methods);
	tables->code = code->code_begin ? process_memory_u64(memory, blob + code->code_begin)
					: at(tables, blob, blob + code->code_offset);
}

/* Where the data of this very place is. Returns whether there is such a place. */
static bool find_place(const struct tables *tables, __u32 offset, __u32 *ret_data)
{
	__u64 low = 0, high = (tables->places_end - tables->places) / PLACE_SIZE;

	if (tables->places_end < tables->places || high > PLACES_MAX)
		return false;
	while (low < high) {
		const __u64 middle = (low + high) / 2;
		const __u64 place = tables->places + middle * PLACE_SIZE;
		const __s32 found = (__s32)process_memory_u32(tables->memory, place);

		if (found == (__s32)offset) {
			*ret_data = process_memory_u32(tables->memory, place + PLACE_DATA);
			return *ret_data != 0;
		}
		if (found < (__s32)offset)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* The next number of the data. Returns whether there was one. */
static bool next_number(const struct tables *tables, const __u8 **bytes, const __u8 *end,
			__u32 *ret_number)
{
	*ret_number = 0;
	for (int i = 0; i < NUMBER_BYTES && *bytes < end; i++) {
		const __u8 byte = *(*bytes)++;

		if (byte < tables->scopes->first_byte)
			return false;
		*ret_number += (__u32)(byte - tables->scopes->first_byte) << (i * NUMBER_BITS);
		if (byte < NUMBER_LIMIT || i == NUMBER_BYTES - 1)
			return true;
	}
	return false;
}

static bool read_scope(const struct tables *tables, __u32 data, struct scope *ret_scope)
{
	__u8 bytes[2 * NUMBER_BYTES] = {};
	const __u8 *next = bytes, *end = bytes + sizeof(bytes);

	return !process_memory_read(tables->memory, tables->data + data, bytes, sizeof(bytes)) &&
	       next_number(tables, &next, end, &ret_scope->caller) &&
	       next_number(tables, &next, end, &ret_scope->method) && ret_scope->method;
}

static size_t read_scopes(const struct tables *tables, __u32 data,
			  __u64 ret_methods[JAVA_SCOPES_MAX])
{
	struct scope scope;
	size_t count = 0;

	for (; data && count < JAVA_SCOPES_MAX; data = scope.caller) {
		if (!read_scope(tables, data, &scope))
			return 0;
		ret_methods[count++] = process_memory_u64(
		    tables->memory, tables->methods + (__u64)(scope.method - 1) * sizeof(__u64));
	}
	return data ? 0 : count;
}

size_t java_scopes_read(int memory, const struct java_code *code, __u64 blob, __u32 place,
			__u64 ret_methods[JAVA_SCOPES_MAX])
{
	struct tables tables = {.memory = memory};
	__u32 data = 0;
	size_t count;

	open_tables(&tables, code, blob);
	if (!find_place(&tables, (__u32)(blob + place - tables.code), &data))
		return 0;
	count = read_scopes(&tables, data, ret_methods);
	/* What was understood ends at the method that was compiled. */
	if (!count || ret_methods[count - 1] != process_memory_u64(memory, blob + code->method))
		return 0;
	return count;
}
