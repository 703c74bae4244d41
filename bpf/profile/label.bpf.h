/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading labels into a sample, and the thread-local variables that lead to them. */
#ifndef CTXPROP_PROFILE_LABEL_BPF_H
#define CTXPROP_PROFILE_LABEL_BPF_H

#include "probes/user.bpf.h"
#include "profile/sample.h"
#include "within.bpf.h"

#define THREAD_BLOCKS_AT  8 /* of the array of blocks, from the thread pointer: glibc and musl */
#define GLIBC_BLOCK_BYTES 16
#define MUSL_BLOCK_BYTES  8

/* Which sources are wanted, one bit each: 1 << enum profile_source. */
const volatile __u32 wanted_sources = PROFILE_SOURCES_OWN;

/* A text in the memory of the process. */
struct label_text {
	__u64 address, size;
};

/* Is the thread's block for this module that of the module that is meant? */
static __always_inline int thread_has_module(const struct profile_tls *tls, __u64 blocks)
{
	__u64 seen, loaded;

	if (!tls->generation_at)
		return 1;
	return !bpf_probe_read_user(&loaded, sizeof(loaded), (const void *)tls->generation_at) &&
	       loaded == tls->generation &&
	       !bpf_probe_read_user(&seen, sizeof(seen), (const void *)blocks) && seen >= loaded;
}

/*
 * The address of a variable of the thread with this pointer; 0: it has none, or not yet. A block
 * that was never used is NULL or ~0.
 */
static __always_inline __u64 thread_variable(const struct profile_tls *tls, __u64 thread)
{
	__u64 block, blocks;

	if (!thread || tls->model == PROFILE_TLS_NONE)
		return 0;
	if (tls->model == PROFILE_TLS_STATIC)
		return thread + tls->offset;
	blocks = user_read(thread + THREAD_BLOCKS_AT);
	if (!blocks || !thread_has_module(tls, blocks))
		return 0;
	block = user_read(blocks + (__u64)tls->module * (tls->model == PROFILE_TLS_MUSL
							     ? MUSL_BLOCK_BYTES
							     : GLIBC_BLOCK_BYTES));
	return !block || block == ~0ULL ? 0 : block + tls->offset;
}

/* The value of such a variable that is a pointer; 0: NULL, or it cannot be read. */
static __always_inline __u64 thread_pointer_variable(const struct profile_tls *tls, __u64 thread)
{
	__u64 address = thread_variable(tls, thread);

	return address ? user_read(address) : 0;
}

/* Room for one more label at the end of the sample; NULL: there is none. */
static __always_inline struct profile_label *label_room(struct profile_sample *s)
{
	__u32 at = s->kernel_count + s->user_count + 2 * s->named_count +
		   PROFILE_LABEL_WORDS * s->label_count;
	struct profile_label *label;

	if (s->label_count >= PROFILE_LABELS_TAKEN)
		s->labels_left_out = 1;
	if (s->label_count >= PROFILE_LABELS_TAKEN || !index_within(&at, PROFILE_SLOTS))
		return NULL;
	label = (void *)&s->frame[at];
	__builtin_memset(label, 0, sizeof(*label));
	return label;
}

/* Read a text of at most `max` bytes into zeroed room for one byte more. Returns 0 or -1. */
static __always_inline int label_read(char *to, __u32 max, struct label_text text, __u8 *cut)
{
	__u32 size = text.size > max ? max : (__u32)text.size;

	if (text.size > max)
		*cut = 1;
	if (!text.size)
		return 0;
	return size_within(&size, max) && !bpf_probe_read_user(to, size, (const void *)text.address)
		   ? 0
		   : -1;
}

/*
 * Append a label. Without a key (`key.address` 0) `number` says which one it is. Nothing is
 * appended if it cannot be read.
 */
static __always_inline void label_add(struct profile_sample *s, __u8 source, __u32 number,
				      struct label_text key, struct label_text value)
{
	struct profile_label *label = label_room(s);

	if (!label)
		return;
	label->source = source;
	label->number = number;
	label->value_size = value.size < PROFILE_LABEL_VALUE ? value.size : PROFILE_LABEL_VALUE - 1;
	if (key.address && label_read(label->key, PROFILE_LABEL_KEY - 1, key, &label->cut))
		return;
	if (label_read(label->value, PROFILE_LABEL_VALUE - 1, value, &label->cut))
		return;
	s->label_count++;
}

#endif
