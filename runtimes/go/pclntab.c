// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "runtimes/go/pclntab.h"

#define MAGIC_118     0xfffffff0
#define MAGIC_120     0xfffffff1
#define POINTER_SIZE  8
#define FIELD_COUNT   8 /* words from here on: functions, files, text, names, ..., table */
#define FIELD_NAMES   32
#define FIELD_TABLE   64
#define ENTRY_SIZE    8    /* offset into the text, offset of the description */
#define NAME_OF_ENTRY 4    /* in the description: offset of the name */
#define NAME_SIZE_MAX 4096 /* bytes that are searched for the end of a name */

/* `size` bytes at `offset`, if they are there. */
static const __u8 *at(const struct pclntab *table, __u64 offset, size_t size)
{
	if (offset > table->size || table->size - offset < size)
		return NULL;
	return table->data + offset;
}

static int read_u32(const struct pclntab *table, __u64 offset, __u32 *ret)
{
	const __u8 *bytes = at(table, offset, sizeof(*ret));

	if (!bytes)
		return -EINVAL;
	memcpy(ret, bytes, sizeof(*ret));
	*ret = le32toh(*ret);
	return 0;
}

static __u64 field(const __u8 *header, size_t offset)
{
	__u64 value;

	memcpy(&value, header + offset, sizeof(value));
	return le64toh(value);
}

int pclntab_open(const void *data, size_t size, struct pclntab *ret_table)
{
	struct pclntab table = {.data = data, .size = size};
	const __u8 *header = at(&table, 0, PCLNTAB_HEADER_SIZE);
	__u32 magic;

	if (!header || read_u32(&table, 0, &magic))
		return -EINVAL;
	if ((magic != MAGIC_118 && magic != MAGIC_120) || header[7] != POINTER_SIZE)
		return -EINVAL;
	table.functions = field(header, FIELD_COUNT);
	table.text = field(header, PCLNTAB_TEXT_FIELD);
	table.names = field(header, FIELD_NAMES);
	table.table = field(header, FIELD_TABLE);
	if (table.functions > size / ENTRY_SIZE ||
	    !at(&table, table.table, table.functions * ENTRY_SIZE + sizeof(__u32)))
		return -EINVAL;
	*ret_table = table;
	return 0;
}

static const char *name_of(const struct pclntab *table, __u32 description)
{
	__u32 offset;
	const __u8 *name;
	size_t left;

	if (read_u32(table, table->table + description + NAME_OF_ENTRY, &offset))
		return NULL;
	name = at(table, table->names + offset, 1);
	if (!name)
		return NULL;
	left = (size_t)(table->data + table->size - name);
	if (memchr(name, 0, left < NAME_SIZE_MAX ? left : NAME_SIZE_MAX))
		return (const char *)name;
	return left < NAME_SIZE_MAX ? NULL : "";
}

int pclntab_get(const struct pclntab *table, __u64 index, struct pclntab_function *ret_function)
{
	__u64 entry = table->table + index * ENTRY_SIZE;
	__u32 start, end, description;
	const char *name;

	if (index >= table->functions)
		return -ENOENT;
	if (read_u32(table, entry, &start) || read_u32(table, entry + 4, &description) ||
	    read_u32(table, entry + ENTRY_SIZE, &end) || end < start)
		return -EINVAL;
	name = name_of(table, description);
	if (!name)
		return -EINVAL;
	*ret_function = (struct pclntab_function){
	    .name = name, .start = table->text + start, .end = table->text + end};
	return 0;
}
