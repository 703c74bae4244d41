/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the HotSpot virtual machine tells debuggers about its own structures: a table of their
 * fields (gHotSpotVMStructs) and one of their sizes (gHotSpotVMTypes) in its library, and by these
 * the classes that it has loaded, and their fields.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_HOTSPOT_H
#define CTXPROP_RUNTIMES_JAVA_HOTSPOT_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/elf_image.h"

#define HOTSPOT_ABSENT (~0ULL) /* in place of what this version does not have */

/* Offsets, but for those that say otherwise. */
struct hotspot {
	int fd; /* memory of the process */
	__u64 thread_list, threads_length, threads_array;
	__u64 thread_object, thread_native, native_pthread;
	__u64 thread_virtual; /* of the handle of the virtual thread on it; since Java 19 */
	__u64 thread_stack;   /* where its stack begins: the highest address */
	__u64 thread_anchor, anchor_stack;          /* where its functions' stack ends */
	__u64 thread_enters, thread_waits;          /* the monitor that it waits to enter, or for */
	__u64 thread_buffer;                        /* from which it makes objects */
	__u64 buffer_start, buffer_top;             /* in that */
	__u64 loaders, loader_next, loader_classes; /* `loaders`: address of the first one's */
	__u64 loader_object;                        /* of its handle */
	__u64 class_name, class_next, class_constants, class_layout;
	__u64 class_fields, class_field_count; /* until Java 20 */
	__u64 class_stream;                    /* since */
	__u64 symbol_length, symbol_text;
	__u64 array_data;
	__u64 narrow_base, narrow_shift; /* addresses */
	__u64 class_base, class_shift;   /* addresses */
	__u64 object_class;
	__u64 heap, heap_collections; /* `heap`: address of its address */
	__u64 code_low, code_high;    /* addresses of the limits of compiled code */
	__u64 constants_size;         /* of what comes before the constants themselves */
};

/* A class that is looked for, as in "java/lang/Thread", and its address; 0: it is not loaded. */
struct hotspot_class {
	const char *name;
	__u64 address;
};

/*
 * Read the tables of the library `image`, which was moved by `bias` in the process whose memory
 * `fd` is. 0, or -ENOTSUP: something is not told.
 */
int hotspot_open(int fd, struct elf_image *image, __u64 bias, struct hotspot *ret_hotspot);

/* The address of the class of an object. */
__u64 hotspot_class_of(const struct hotspot *hotspot, __u64 object);

/* Find classes of the platform itself, of whatever module. */
void hotspot_classes(const struct hotspot *hotspot, struct hotspot_class *classes, size_t count);

/* Is a symbol of the virtual machine this text? */
bool hotspot_symbol_is(const struct hotspot *hotspot, __u64 symbol, const char *text);

/* Where objects of a class have a field that the class declares. 0, or -ENOENT. */
int hotspot_field(const struct hotspot *hotspot, __u64 class, const char *name, __u32 *ret_offset);

#endif
