/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In place of bpf/probes/user.bpf.h and of the kernel's helpers, for readers that are compiled for
 * user space: the memory is that of an image (image.h).
 */
#ifndef CTXPROP_PROBES_USER_BPF_H
#define CTXPROP_PROBES_USER_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/runtime.h"
#include "image.h"

/* The process and the thread that are looked at. */
extern struct image *user_image;
extern struct runtime user_runtime;

static inline __u64 user_read(__u64 address)
{
	return image_word(user_image, address);
}

static inline int user_words(__u64 address, __u64 *ret_words, __u32 count)
{
	for (__u32 i = 0; i < count; i++) {
		if (!image_has(user_image, address + i * sizeof(*ret_words)))
			return 0;
		ret_words[i] = image_word(user_image, address + i * sizeof(*ret_words));
	}
	return 1;
}

/* As bpf_probe_read_user(). */
static inline long user_bytes(void *to, __u32 size, const void *from)
{
	const __u64 address = (__u64)from;

	for (__u32 i = 0; i < size; i++) {
		const __u64 at = address + i;
		__u64 word;

		if (!image_has(user_image, at & ~7ULL))
			return -1;
		word = image_word(user_image, at & ~7ULL);
		((__u8 *)to)[i] = (__u8)(word >> at % 8 * 8);
	}
	return 0;
}

#define bpf_probe_read_user user_bytes

static inline __u64 user_thread_pointer(void)
{
	return user_image->thread;
}

#define bpf_map_lookup_elem(map, key) ((void)(map), (void)(key), &user_runtime)

/* As the kernel's: until the callback says 1. */
#define bpf_loop(count, callback, data, flags)                                                     \
	do {                                                                                       \
		for (__u32 turn = 0; turn < (count) && !(callback)(turn, data); turn++)            \
			;                                                                          \
	} while (0)

#endif
