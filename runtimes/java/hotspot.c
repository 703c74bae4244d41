// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "runtimes/java/hotspot.h"
#include "inspect/process_memory.h"

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
#define NAME_MAX_OF 128

#define PLATFORM_LOADER "jdk/internal/loader/ClassLoaders$PlatformClassLoader"

/* clang-format off */
#define WANTED_FIELD(type, field, member) {type, field, offsetof(struct hotspot, member), false}
#define LATER_FIELD(type, field, member)  {type, field, offsetof(struct hotspot, member), true}
/* clang-format on */

/* Some have another name, or stand in another type, in one version than in another. */
static const struct wanted {
	const char *type, *field;
	size_t to; /* in struct hotspot */
	bool may_be_absent;
} wanted[] = {
    WANTED_FIELD("ThreadsSMRSupport", "_java_thread_list", thread_list),
    WANTED_FIELD("ThreadsList", "_length", threads_length),
    WANTED_FIELD("ThreadsList", "_threads", threads_array),
    WANTED_FIELD("JavaThread", "_threadObj", thread_object),
    LATER_FIELD("JavaThread", "_vthread", thread_virtual),
    WANTED_FIELD("JavaThread", "_stack_base", thread_stack),
    WANTED_FIELD("JavaThread", "_anchor", thread_anchor),
    WANTED_FIELD("JavaFrameAnchor", "_last_Java_sp", anchor_stack),
    WANTED_FIELD("JavaThread", "_current_pending_monitor", thread_enters),
    WANTED_FIELD("JavaThread", "_current_waiting_monitor", thread_waits),
    WANTED_FIELD("JavaThread", "_osthread", thread_native),
    WANTED_FIELD("Thread", "_osthread", thread_native),
    WANTED_FIELD("Thread", "_tlab", thread_buffer),
    WANTED_FIELD("ThreadLocalAllocBuffer", "_start", buffer_start),
    WANTED_FIELD("ThreadLocalAllocBuffer", "_top", buffer_top),
    WANTED_FIELD("OSThread", "_pthread_id", native_pthread),
    WANTED_FIELD("ClassLoaderDataGraph", "_head", loaders),
    WANTED_FIELD("ClassLoaderData", "_next", loader_next),
    WANTED_FIELD("ClassLoaderData", "_klasses", loader_classes),
    WANTED_FIELD("ClassLoaderData", "_class_loader", loader_object),
    WANTED_FIELD("Klass", "_name", class_name),
    WANTED_FIELD("Klass", "_next_link", class_next),
    WANTED_FIELD("Klass", "_layout_helper", class_layout),
    LATER_FIELD("InstanceKlass", "_fieldinfo_stream", class_stream),
    LATER_FIELD("InstanceKlass", "_fields", class_fields),
    LATER_FIELD("InstanceKlass", "_java_fields_count", class_field_count),
    WANTED_FIELD("InstanceKlass", "_constants", class_constants),
    WANTED_FIELD("Symbol", "_length", symbol_length),
    WANTED_FIELD("Symbol", "_body", symbol_text),
    WANTED_FIELD("Array<u1>", "_data", array_data),
    WANTED_FIELD("CompressedOops", "_narrow_oop._base", narrow_base),
    WANTED_FIELD("CompressedOops", "_base", narrow_base),
    WANTED_FIELD("CompressedOops", "_narrow_oop._shift", narrow_shift),
    WANTED_FIELD("CompressedOops", "_shift", narrow_shift),
    WANTED_FIELD("CompressedKlassPointers", "_narrow_klass._base", class_base),
    WANTED_FIELD("CompressedKlassPointers", "_base", class_base),
    WANTED_FIELD("CompressedKlassPointers", "_narrow_klass._shift", class_shift),
    WANTED_FIELD("CompressedKlassPointers", "_shift", class_shift),
    WANTED_FIELD("oopDesc", "_metadata._compressed_klass", object_class),
    WANTED_FIELD("Universe", "_collectedHeap", heap),
    WANTED_FIELD("CollectedHeap", "_total_collections", heap_collections),
    WANTED_FIELD("CodeCache", "_low_bound", code_low),
    WANTED_FIELD("CodeCache", "_high_bound", code_high),
    LATER_FIELD("CodeCache", "_heaps", code_heaps),
    LATER_FIELD("GrowableArrayBase", "_len", array_length),
    LATER_FIELD("GrowableArray<int>", "_data", array_elements),
    LATER_FIELD("CodeHeap", "_memory", heap_memory),
    LATER_FIELD("CodeHeap", "_segmap", heap_segments),
    LATER_FIELD("CodeHeap", "_log2_segment_size", heap_shift),
    LATER_FIELD("VirtualSpace", "_low_boundary", space_low),
    LATER_FIELD("VirtualSpace", "_high_boundary", space_high),
    LATER_FIELD("VirtualSpace", "_low", space_start),
    LATER_FIELD("AbstractInterpreter", "_code", interpreter),
    LATER_FIELD("StubQueue", "_stub_buffer", queue_start),
    LATER_FIELD("StubQueue", "_buffer_limit", queue_size),
    LATER_FIELD("StubRoutines", "_call_stub_return_address", call_return),
    LATER_FIELD("CodeBlob", "_name", blob_name),
    LATER_FIELD("CodeBlob", "_frame_size", blob_frame_size),
    LATER_FIELD("CodeBlob", "_frame_complete_offset", blob_frame_complete),
    LATER_FIELD("CodeBlob", "_code_begin", blob_code),
    LATER_FIELD("CodeBlob", "_code_offset", blob_code_offset),
    LATER_FIELD("CompiledMethod", "_method", blob_method),
    LATER_FIELD("nmethod", "_method", blob_method),
    LATER_FIELD("Abstract_VM_Version", "_vm_major_version", version),
    LATER_FIELD("nmethod", "_compile_id", blob_compilation),
    LATER_FIELD("nmethod", "_immutable_data", blob_own_memory),
    LATER_FIELD("nmethod", "_scopes_pcs_offset", blob_places),
    LATER_FIELD("nmethod", "_dependencies_offset", blob_dependencies),
    LATER_FIELD("CompiledMethod", "_scopes_data_begin", blob_scopes_begin),
    LATER_FIELD("nmethod", "_scopes_data_offset", blob_scopes_offset),
    LATER_FIELD("nmethod", "_metadata_offset", blob_methods),
    LATER_FIELD("CodeBlob", "_mutable_data", blob_mutable),
    LATER_FIELD("CodeBlob", "_relocation_size", blob_relocations),
    LATER_FIELD("Method", "_constMethod", method_const),
    LATER_FIELD("ConstMethod", "_constants", const_constants),
    LATER_FIELD("ConstMethod", "_name_index", const_name),
    LATER_FIELD("ConstantPool", "_pool_holder", constants_holder),
    LATER_FIELD("ConstantPool", "_source_file_name_index", constants_source),
};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

static __u64 *wanted_place(struct hotspot *hotspot, const struct wanted *one)
{
	return (__u64 *)((char *)hotspot + one->to);
}

/* Take what one entry of the table of fields tells, if it is wanted. */
static void take_field(struct hotspot *hotspot, __u64 entry)
{
	__u64 type = process_memory_u64(hotspot->fd, entry);
	__u64 name = process_memory_u64(hotspot->fd, entry + FIELD_NAME);
	bool is_static = process_memory_u32(hotspot->fd, entry + FIELD_STATIC);
	char field[NAME_MAX_OF];

	process_memory_text(hotspot->fd, name, field, sizeof(field));
	for (size_t i = 0; i < WANTED; i++)
		if (!strcmp(field, wanted[i].field) &&
		    process_memory_is(hotspot->fd, type, wanted[i].type))
			*wanted_place(hotspot, &wanted[i]) = process_memory_u64(
			    hotspot->fd, entry + (is_static ? FIELD_PLACE : FIELD_OFFSET));
}

/* The table that a variable of the library points to; 0: there is none. */
static __u64 table_of(const struct hotspot *hotspot, __u64 variable, __u64 bias)
{
	return variable ? process_memory_u64(hotspot->fd, variable + bias) : 0;
}

/* Is everything there that must be, and fields of classes in one way or the other? */
static bool is_complete(struct hotspot *hotspot)
{
	for (size_t i = 0; i < WANTED; i++)
		if (*wanted_place(hotspot, &wanted[i]) == HOTSPOT_ABSENT &&
		    !wanted[i].may_be_absent)
			return false;
	return hotspot->class_stream != HOTSPOT_ABSENT ||
	       (hotspot->class_fields != HOTSPOT_ABSENT &&
		hotspot->class_field_count != HOTSPOT_ABSENT);
}

static int read_fields(struct hotspot *hotspot, __u64 table)
{
	for (size_t i = 0; i < WANTED; i++)
		*wanted_place(hotspot, &wanted[i]) = HOTSPOT_ABSENT;
	for (int i = 0; table && i < ENTRIES_MAX; i++) {
		__u64 entry = table + (__u64)i * FIELD_SIZE;

		if (!process_memory_u64(hotspot->fd, entry))
			break;
		take_field(hotspot, entry);
	}
	return is_complete(hotspot) ? 0 : -ENOTSUP;
}

static int read_types(struct hotspot *hotspot, __u64 table)
{
	for (int i = 0; table && i < ENTRIES_MAX; i++) {
		__u64 entry = table + (__u64)i * TYPE_SIZE;
		__u64 name = process_memory_u64(hotspot->fd, entry);

		if (!name)
			break;
		if (process_memory_is(hotspot->fd, name, "ConstantPool"))
			hotspot->constants_size =
			    process_memory_u64(hotspot->fd, entry + TYPE_BYTES);
		else if (process_memory_is(hotspot->fd, name, "HeapBlock"))
			hotspot->block_size = process_memory_u64(hotspot->fd, entry + TYPE_BYTES);
	}
	return hotspot->constants_size ? 0 : -ENOTSUP;
}

void hotspot_find(struct elf_image *image, struct hotspot_tables *ret_tables)
{
	*ret_tables = (struct hotspot_tables){};
	elf_image_symbol(image, "gHotSpotVMStructs", &ret_tables->fields);
	elf_image_symbol(image, "gHotSpotVMTypes", &ret_tables->types);
}

int hotspot_open(int fd, const struct hotspot_tables *tables, __u64 bias,
		 struct hotspot *ret_hotspot)
{
	int err;

	*ret_hotspot = (struct hotspot){.fd = fd};
	err = read_fields(ret_hotspot, table_of(ret_hotspot, tables->fields, bias));
	return err ? err : read_types(ret_hotspot, table_of(ret_hotspot, tables->types, bias));
}

/* The text of a symbol of the virtual machine, cut where it is too long to be one that is known. */
static void symbol_text(const struct hotspot *hotspot, __u64 symbol, char text[NAME_MAX_OF])
{
	__u16 length = process_memory_u16(hotspot->fd, symbol + hotspot->symbol_length);

	text[0] = '\0';
	if (length < NAME_MAX_OF &&
	    !process_memory_read(hotspot->fd, symbol + hotspot->symbol_text, text, length))
		text[length] = '\0';
}

bool hotspot_symbol_is(const struct hotspot *hotspot, __u64 symbol, const char *text)
{
	char there[NAME_MAX_OF];

	symbol_text(hotspot, symbol, there);
	return !strcmp(there, text);
}

__u64 hotspot_class_of(const struct hotspot *hotspot, __u64 object)
{
	__u64 base = process_memory_u64(hotspot->fd, hotspot->class_base);
	__u64 class = process_memory_u32(hotspot->fd, object + hotspot->object_class);

	return base + (class << process_memory_u32(hotspot->fd, hotspot->class_shift));
}

/* The virtual machine's own loader was there before all others: it is the last one of their list.
 */
static __u64 first_loader(const struct hotspot *hotspot)
{
	__u64 loader = process_memory_u64(hotspot->fd, hotspot->loaders), next = loader;

	for (int i = 0; next && i < LOADERS_MAX; i++) {
		loader = next;
		next = process_memory_u64(hotspot->fd, loader + hotspot->loader_next);
	}
	return loader;
}

/* The loader of the platform's other modules; 0: there is none. */
static __u64 platform_loader(const struct hotspot *hotspot)
{
	__u64 loader = process_memory_u64(hotspot->fd, hotspot->loaders), handle, class;

	for (int i = 0; loader && i < LOADERS_MAX; i++) {
		handle = process_memory_u64(hotspot->fd, loader + hotspot->loader_object);
		class =
		    handle ? hotspot_class_of(hotspot, process_memory_u64(hotspot->fd, handle)) : 0;
		if (class &&
		    hotspot_symbol_is(hotspot,
				      process_memory_u64(hotspot->fd, class + hotspot->class_name),
				      PLATFORM_LOADER))
			return loader;
		loader = process_memory_u64(hotspot->fd, loader + hotspot->loader_next);
	}
	return 0;
}

static void find_classes_of(const struct hotspot *hotspot, __u64 loader,
			    struct hotspot_class *classes, size_t count)
{
	__u64 class = process_memory_u64(hotspot->fd, loader + hotspot->loader_classes);
	char name[NAME_MAX_OF];

	for (int i = 0; class && i < CLASSES_MAX; i++) {
		symbol_text(hotspot, process_memory_u64(hotspot->fd, class + hotspot->class_name),
			    name);
		for (size_t j = 0; j < count; j++)
			if (!strcmp(name, classes[j].name))
				classes[j].address = class;
		class = process_memory_u64(hotspot->fd, class + hotspot->class_next);
	}
}

void hotspot_classes(const struct hotspot *hotspot, struct hotspot_class *classes, size_t count)
{
	__u64 loader = platform_loader(hotspot);

	for (size_t i = 0; i < count; i++)
		classes[i].address = 0;
	find_classes_of(hotspot, first_loader(hotspot), classes, count);
	if (loader)
		find_classes_of(hotspot, loader, classes, count);
}
