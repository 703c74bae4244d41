/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the HotSpot virtual machine tells debuggers about its own structures: a table of their
 * fields (gHotSpotVMStructs) and one of their sizes (gHotSpotVMTypes) in its library, and by these
 * the classes that it has loaded, and their fields.
 */
#ifndef CTXPROP_HOTSPOT_H
#define CTXPROP_HOTSPOT_H

#include "runtime/elf_image.h"

/* Offsets, but for those that say otherwise. */
struct hotspot {
	int fd; /* memory of the process */
	__u64 thread_list, threads_length, threads_array;
	__u64 thread_object, thread_native, native_pthread;
	__u64 loaders, loader_next, loader_classes; /* `loaders`: address of the first one's */
	__u64 class_name, class_next, class_fields, class_field_count, class_constants;
	__u64 symbol_length, symbol_text;
	__u64 array_data;
	__u64 narrow_base, narrow_shift; /* addresses */
	__u64 class_base, class_shift;   /* addresses */
	__u64 object_class;
	__u64 constants_size; /* of what comes before the constants themselves */
};

/*
 * Read the tables of the library `image`, which was moved by `bias` in the process whose memory
 * `fd` is. 0, or -ENOTSUP: something is not told.
 */
int hotspot_open(int fd, struct elf_image *image, __u64 bias, struct hotspot *ret_hotspot);

/* A class of the platform itself, as in "java/lang/Thread"; 0: it is not loaded. */
__u64 hotspot_class(const struct hotspot *hotspot, const char *name);

/* Where objects of a class have a field that the class declares. 0, or -ENOENT. */
int hotspot_field(const struct hotspot *hotspot, __u64 class, const char *name, __u32 *ret_offset);

#endif
