// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "runtime/hotspot.h"
#include "runtime/process_memory.h"

/* Entries of the tables, as in all versions since 8. */
#define ENTRIES_MAX 4096
#define FIELD_SIZE                                                                                 \
	48 /* type, field, type of the field: addresses of text; static; offset; address */
#define FIELD_NAME   8
#define FIELD_STATIC 24
#define FIELD_OFFSET 32
#define FIELD_PLACE  40
#define TYPE_SIZE    40 /* type, base: addresses of text; 3 numbers of 4 bytes; size */
#define TYPE_BYTES   32

/* Walks end there, whatever the process's memory says. */
#define LOADERS_MAX 65536
#define CLASSES_MAX 65536
#define FIELDS_MAX  1024
#define NAME_MAX_OF 128

/* A field of a class: six numbers of 16 bits, until Java 20. */
#define DECLARED_SIZE  12
#define DECLARED_NAME  2
#define DECLARED_PLACE 8
#define PLACE_TAG_BITS 2

static const struct wanted {
	const char *type, *field;
	size_t to; /* in struct hotspot */
} wanted[] = {
    {"ThreadsSMRSupport", "_java_thread_list", offsetof(struct hotspot, thread_list)},
    {"ThreadsList", "_length", offsetof(struct hotspot, threads_length)},
    {"ThreadsList", "_threads", offsetof(struct hotspot, threads_array)},
    {"JavaThread", "_threadObj", offsetof(struct hotspot, thread_object)},
    {"JavaThread", "_osthread", offsetof(struct hotspot, thread_native)},
    {"OSThread", "_pthread_id", offsetof(struct hotspot, native_pthread)},
    {"ClassLoaderDataGraph", "_head", offsetof(struct hotspot, loaders)},
    {"ClassLoaderData", "_next", offsetof(struct hotspot, loader_next)},
    {"ClassLoaderData", "_klasses", offsetof(struct hotspot, loader_classes)},
    {"Klass", "_name", offsetof(struct hotspot, class_name)},
    {"Klass", "_next_link", offsetof(struct hotspot, class_next)},
    {"InstanceKlass", "_fields", offsetof(struct hotspot, class_fields)},
    {"InstanceKlass", "_java_fields_count", offsetof(struct hotspot, class_field_count)},
    {"InstanceKlass", "_constants", offsetof(struct hotspot, class_constants)},
    {"Symbol", "_length", offsetof(struct hotspot, symbol_length)},
    {"Symbol", "_body", offsetof(struct hotspot, symbol_text)},
    {"Array<u2>", "_data", offsetof(struct hotspot, array_data)},
    {"CompressedOops", "_narrow_oop._base", offsetof(struct hotspot, narrow_base)},
    {"CompressedOops", "_narrow_oop._shift", offsetof(struct hotspot, narrow_shift)},
    {"CompressedKlassPointers", "_narrow_klass._base", offsetof(struct hotspot, class_base)},
    {"CompressedKlassPointers", "_narrow_klass._shift", offsetof(struct hotspot, class_shift)},
    {"oopDesc", "_metadata._compressed_klass", offsetof(struct hotspot, object_class)},
};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

/* Take what one entry of the table of fields tells, if it is wanted. Returns whether it is. */
static bool take_field(struct hotspot *hotspot, __u64 entry)
{
	__u64 type = process_memory_u64(hotspot->fd, entry);
	__u64 field = process_memory_u64(hotspot->fd, entry + FIELD_NAME);
	bool is_static = process_memory_u32(hotspot->fd, entry + FIELD_STATIC);
	__u64 value =
	    process_memory_u64(hotspot->fd, entry + (is_static ? FIELD_PLACE : FIELD_OFFSET));

	for (size_t i = 0; i < WANTED; i++) {
		if (!process_memory_is(hotspot->fd, field, wanted[i].field) ||
		    !process_memory_is(hotspot->fd, type, wanted[i].type))
			continue;
		memcpy((char *)hotspot + wanted[i].to, &value, sizeof(value));
		return true;
	}
	return false;
}

/* The table that a variable of the library points to; 0: there is none. */
static __u64 table_of(const struct hotspot *hotspot, struct elf_image *image, __u64 bias,
		      const char *name)
{
	__u64 variable;

	return elf_image_symbol(image, name, &variable)
		   ? 0
		   : process_memory_u64(hotspot->fd, variable + bias);
}

static int read_fields(struct hotspot *hotspot, __u64 table)
{
	size_t found = 0;

	for (int i = 0; table && i < ENTRIES_MAX && found < WANTED; i++) {
		__u64 entry = table + (__u64)i * FIELD_SIZE;

		if (!process_memory_u64(hotspot->fd, entry))
			break;
		found += take_field(hotspot, entry);
	}
	return found == WANTED ? 0 : -ENOTSUP;
}

static int read_types(struct hotspot *hotspot, __u64 table)
{
	for (int i = 0; table && i < ENTRIES_MAX; i++) {
		__u64 entry = table + (__u64)i * TYPE_SIZE;
		__u64 name = process_memory_u64(hotspot->fd, entry);

		if (!name)
			break;
		if (!process_memory_is(hotspot->fd, name, "ConstantPool"))
			continue;
		hotspot->constants_size = process_memory_u64(hotspot->fd, entry + TYPE_BYTES);
		return 0;
	}
	return -ENOTSUP;
}

int hotspot_open(int fd, struct elf_image *image, __u64 bias, struct hotspot *ret_hotspot)
{
	int err;

	*ret_hotspot = (struct hotspot){.fd = fd};
	err = read_fields(ret_hotspot, table_of(ret_hotspot, image, bias, "gHotSpotVMStructs"));
	return err ? err
		   : read_types(ret_hotspot, table_of(ret_hotspot, image, bias, "gHotSpotVMTypes"));
}

/* Is a symbol of the virtual machine this text? */
static bool symbol_is(const struct hotspot *hotspot, __u64 symbol, const char *text)
{
	__u16 length = process_memory_u16(hotspot->fd, symbol + hotspot->symbol_length);
	char there[NAME_MAX_OF];

	return length == strlen(text) && length <= sizeof(there) &&
	       !process_memory_read(hotspot->fd, symbol + hotspot->symbol_text, there, length) &&
	       !memcmp(there, text, length);
}

/* The platform's loader was there before all others: it is the last one of their list. */
static __u64 platform_loader(const struct hotspot *hotspot)
{
	__u64 loader = process_memory_u64(hotspot->fd, hotspot->loaders), next = loader;

	for (int i = 0; next && i < LOADERS_MAX; i++) {
		loader = next;
		next = process_memory_u64(hotspot->fd, loader + hotspot->loader_next);
	}
	return loader;
}

__u64 hotspot_class(const struct hotspot *hotspot, const char *name)
{
	__u64 class =
	    process_memory_u64(hotspot->fd, platform_loader(hotspot) + hotspot->loader_classes);

	for (int i = 0; class && i < CLASSES_MAX; i++) {
		__u64 symbol = process_memory_u64(hotspot->fd, class + hotspot->class_name);

		if (symbol_is(hotspot, symbol, name))
			return class;
		class = process_memory_u64(hotspot->fd, class + hotspot->class_next);
	}
	return 0;
}

int hotspot_field(const struct hotspot *hotspot, __u64 class, const char *name, __u32 *ret_offset)
{
	__u64 fields = process_memory_u64(hotspot->fd, class + hotspot->class_fields);
	__u64 constants = process_memory_u64(hotspot->fd, class + hotspot->class_constants);
	__u16 count = process_memory_u16(hotspot->fd, class + hotspot->class_field_count);

	for (__u64 i = 0; i < count && i < FIELDS_MAX; i++) {
		__u64 field = fields + hotspot->array_data + i * DECLARED_SIZE;
		__u16 index = process_memory_u16(hotspot->fd, field + DECLARED_NAME);
		__u64 symbol = process_memory_u64(hotspot->fd, constants + hotspot->constants_size +
								   index * sizeof(__u64));

		if (!symbol_is(hotspot, symbol, name))
			continue;
		*ret_offset =
		    process_memory_u32(hotspot->fd, field + DECLARED_PLACE) >> PLACE_TAG_BITS;
		return 0;
	}
	return -ENOENT;
}
