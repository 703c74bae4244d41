/* SPDX-License-Identifier: GPL-2.0-only */
/* Thread-local variables that `ctxprop labels register` has named. */
#ifndef CTXPROP_PROFILE_LABELS_REGISTERED_BPF_H
#define CTXPROP_PROFILE_LABELS_REGISTERED_BPF_H

#include "profile/label.bpf.h"

/* A walk over the registered variables of a process. */
struct registered_labels {
	struct profile_sample *sample;
	const struct profile_thread_data *data;
	__u64 thread;
};

/* Append a number of eight bytes, unless it is 0. */
static __always_inline int registered_number(struct profile_label *label, __u64 address, __u32 size)
{
	__u64 value = 0;

	if (!size_within(&size, sizeof(value)) ||
	    bpf_probe_read_user(&value, size, (const void *)address) || !value)
		return -1;
	__builtin_memcpy(label->value, &value, sizeof(value));
	label->value_size = sizeof(value);
	return 0;
}

/* Append a text that ends with NUL, of at most `size` bytes, unless it is empty. */
static __always_inline int registered_text(struct profile_label *label, __u64 address, __u32 size)
{
	char next = 0;
	long read;

	if (!size_within(&size, PROFILE_LABEL_VALUE))
		return -1;
	read = bpf_probe_read_user_str(label->value, size, (const void *)address);
	if (read <= 1)
		return -1;
	label->value_size = read - 1;
	/* The buffer is full: does the text end there? */
	if (read == PROFILE_LABEL_VALUE &&
	    !bpf_probe_read_user(&next, 1, (const void *)(address + PROFILE_LABEL_VALUE - 1)))
		label->cut = next != 0;
	return 0;
}

static __always_inline int registered_read(struct profile_label *label,
					   const struct profile_slot *slot, __u64 address)
{
	if (slot->type == PROFILE_SLOT_NUMBER)
		return registered_number(label, address, slot->size);
	if (slot->type == PROFILE_SLOT_TEXT)
		return registered_text(label, address, slot->size);
	address = user_read(address);
	return address ? registered_text(label, address, PROFILE_LABEL_VALUE) : -1;
}

/* As a callback of bpf_loop(). */
static long registered_label(__u32 i, struct registered_labels *read)
{
	const struct profile_slot *slot;
	struct profile_label *label;
	__u64 address;

	if (i >= read->data->slot_count || !index_within(&i, PROFILE_SLOTS_MAX))
		return 1;
	slot = &read->data->slot[i];
	address = thread_variable(&slot->tls, read->thread);
	label = address ? label_room(read->sample) : NULL;
	if (!label || registered_read(label, slot, address))
		return 0;
	label->source = PROFILE_SOURCE_REGISTERED;
	label->number = slot->number;
	read->sample->label_count++;
	return 0;
}

static __always_inline void registered_labels(struct profile_sample *s,
					      const struct profile_thread_data *data, __u64 thread)
{
	struct registered_labels read = {.sample = s, .data = data, .thread = thread};

	if (data->slot_count)
		bpf_loop(PROFILE_SLOTS_MAX, registered_label, &read, 0);
}

#endif
