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
#include "runtimes/java/code_layout.h"

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
	/* Of what profiles ask for; see hotspot_code(). */
	__u64 code_heaps; /* address of the address of an array of heaps: */
	__u64 array_length, array_elements;
	__u64 heap_memory, heap_segments, heap_shift; /* CodeHeap */
	__u64 space_low, space_high, space_start; /* VirtualSpace: limits, and where it is used */
	__u64 block_size;                         /* what comes before a blob */
	__u64 interpreter;                        /* address of the address of its code's queue */
	__u64 queue_start, queue_size;            /* StubQueue */
	__u64 call_return;                        /* address of that address */
	__u64 blob_name, blob_frame_size, blob_frame_complete;
	__u64 blob_code, blob_code_offset; /* until Java 22, and since */
	__u64 blob_method;
	__u64 method_const, const_constants, const_name;
	__u64 constants_holder, constants_source;
	/* Methods that were put into others; see struct java_scopes. */
	__u64 version; /* address of the number of its release */
	__u64 blob_compilation, blob_own_memory, blob_places, blob_dependencies;
	__u64 blob_scopes_begin, blob_scopes_offset; /* until Java 22, and since */
	__u64 blob_methods, blob_mutable, blob_relocations;
};

/* A class that is looked for, as in "java/lang/Thread", and its address; 0: it is not loaded. */
struct hotspot_class {
	const char *name;
	__u64 address;
};

/* Where the library has the addresses of its tables: in its file, or in a process. */
struct hotspot_tables {
	__u64 fields, types; /* 0: there is none */
};

/* Find them in the library's file. */
void hotspot_find(struct elf_image *image, struct hotspot_tables *ret_tables);

/*
 * Read the tables of the library, which was moved by `bias` in the process whose memory `fd` is.
 * 0, or -ENOTSUP: something is not told.
 */
int hotspot_open(int fd, const struct hotspot_tables *tables, __u64 bias,
		 struct hotspot *ret_hotspot);

/* Where the code is that was compiled, as sampler and names want it. 0, or -ENOTSUP. */
int hotspot_code(const struct hotspot *hotspot, struct java_code *ret_code);

/* The address of the class of an object. */
__u64 hotspot_class_of(const struct hotspot *hotspot, __u64 object);

/* Find classes of the platform itself, of whatever module. */
void hotspot_classes(const struct hotspot *hotspot, struct hotspot_class *classes, size_t count);

/* Is a symbol of the virtual machine this text? */
bool hotspot_symbol_is(const struct hotspot *hotspot, __u64 symbol, const char *text);

/* Where objects of a class have a field that the class declares. 0, or -ENOENT. */
int hotspot_field(const struct hotspot *hotspot, __u64 class, const char *name, __u32 *ret_offset);

#endif
