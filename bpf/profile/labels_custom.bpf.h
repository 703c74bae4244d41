/* SPDX-License-Identifier: GPL-2.0-only */
/* Native custom labels, ABI 1: a thread-local pointer to an array of keys and values. */
#ifndef CTXPROP_PROFILE_LABELS_CUSTOM_BPF_H
#define CTXPROP_PROFILE_LABELS_CUSTOM_BPF_H

#include "profile/label.bpf.h"

struct custom_label {
	__u64 key_size, key; /* 0: no label */
	__u64 value_size, value;
};

/* The buffer into which the array is read, one for each CPU. */
struct custom_labels {
	struct profile_sample *sample;
	__u64 at, count;
};

/* As a callback of bpf_loop(). */
static long custom_label(__u32 i, struct custom_labels *read)
{
	struct custom_label label;

	if (i >= read->count || bpf_probe_read_user(&label, sizeof(label),
						    (const void *)(read->at + i * sizeof(label))))
		return 1;
	if (label.key && label.key_size)
		label_add(read->sample, PROFILE_SOURCE_CUSTOM, 0,
			  (struct label_text){label.key, label.key_size},
			  (struct label_text){label.value, label.value_size});
	return 0;
}

static __always_inline void custom_labels(struct profile_sample *s,
					  const struct profile_thread_data *data, __u64 thread)
{
	struct custom_labels read = {.sample = s};
	__u64 set = thread_pointer_variable(&data->custom, thread), words[2];

	if (!set || bpf_probe_read_user(words, sizeof(words), (const void *)set))
		return;
	read.at = words[0];
	read.count = words[1];
	bpf_loop(PROFILE_LABELS_TAKEN + 1, custom_label, &read, 0);
}

#endif
